// Resizable, shared and growable buffers.
// host: yes
const buffer = new ArrayBuffer(8, { maxByteLength: 1 << 20 });
const view = new Uint8Array(buffer);
buffer.resize(1 << 20);
view.fill(3);
console.log(view.length, view.at(-1), buffer.resizable, buffer.transfer(16).byteLength, buffer.detached, view.length);
const shared = new SharedArrayBuffer(4, { maxByteLength: 64 });
shared.grow(64);
console.log(
  shared.byteLength,
  new Float64Array(4).fill(0.1).reduce((a, b) => a + b),
  new BigInt64Array([-1n])[0],
  new DataView(new ArrayBuffer(4)).getInt16(1),
);
