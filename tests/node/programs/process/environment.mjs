// The environment, in its order, and what assignments to it do.
// env: {"FIRST": "1", "EMPTY": "", "SPACES": " a b ", "UNICODE": "ü€😀", "LINES": "a\nb"}
console.log(process.env, Object.keys(process.env));
process.env.NUMBER = 5;
delete process.env.FIRST;
console.log(process.env.NUMBER, 'FIRST' in process.env, process.env.MISSING, typeof process.env.toString);
try {
  process.env.SYMBOL = Symbol('s');
} catch (error) {
  console.log(error.name, error.message);
}
