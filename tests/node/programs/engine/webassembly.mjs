// WebAssembly: synchronous, asynchronous, memory, traps.
// host: yes
const bytes = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 10, 2, 96, 2, 127, 127, 1, 127, 96, 0, 0, 3, 3, 2, 0, 1, 7, 14, 2, 3, 97, 100, 100, 0, 0, 4, 116, 114, 97,
  112, 0, 1, 10, 13, 2, 7, 0, 32, 0, 32, 1, 106, 11, 3, 0, 0, 11,
]);
console.log(WebAssembly.validate(bytes), WebAssembly.validate(bytes.slice(0, 20)));
const module = new WebAssembly.Module(bytes);
console.log(WebAssembly.Module.exports(module), new WebAssembly.Instance(module).exports.add(2, 40));
const { instance } = await WebAssembly.instantiate(bytes);
console.log(instance.exports.add(2 ** 31 - 1, 1));
try {
  instance.exports.trap();
} catch (error) {
  console.log(error.name, error.message);
}
await WebAssembly.compile(bytes.slice(0, 30)).catch((error) => console.log(error.name, error.message));
const memory = new WebAssembly.Memory({ initial: 1, maximum: 3 });
console.log(memory.grow(2), memory.buffer.byteLength);
try {
  memory.grow(1);
} catch (error) {
  console.log(error.name, error.message);
}
let sum = 0;
for (let i = 0; i < 1e6; i++) sum = instance.exports.add(sum, i);
console.log(sum, typeof WebAssembly.compileStreaming);
