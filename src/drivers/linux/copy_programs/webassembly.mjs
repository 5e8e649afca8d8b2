// WebAssembly: compiled at once and in the background, called often, trapped, with memory that grows.
const bytes = new Uint8Array([
  0, 97, 115, 109, 1, 0, 0, 0, 1, 10, 2, 96, 2, 127, 127, 1, 127, 96, 0, 0, 3, 3, 2, 0, 1, 7, 14, 2, 3, 97, 100, 100, 0, 0, 4, 116, 114, 97,
  112, 0, 1, 10, 13, 2, 7, 0, 32, 0, 32, 1, 106, 11, 3, 0, 0, 11,
]);
console.log(new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports.add(2, 40));
const { instance } = await WebAssembly.instantiate(bytes);
let sum = 0;
for (let i = 0; i < 2e6; i++) sum = instance.exports.add(sum, i);
console.log(sum);
try {
  instance.exports.trap();
} catch ({ name, message }) {
  console.log(name, message);
}
const memory = new WebAssembly.Memory({ initial: 1, maximum: 200 });
console.log(memory.grow(150), memory.buffer.byteLength);
