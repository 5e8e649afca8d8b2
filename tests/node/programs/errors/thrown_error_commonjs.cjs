// The same in CommonJS: other frames below.
// exit: 1
// stderr: yes
class OwnError extends Error {
  name = 'OwnError';
  details = { a: 1, nested: { b: [1, 2] } };
}
function one() {
  throw new OwnError('with properties');
}
one();
