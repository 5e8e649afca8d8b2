// Microtasks, structured clones and message channels.
// host: yes
const { port1, port2 } = new MessageChannel();
port2.onmessage = ({ data }) => {
  console.log('message', data);
  port2.close();
};
port1.postMessage({ a: new Date(0), b: new Set([1]), c: /x/gi, d: new Error('e').message, e: new Uint8Array(2) });
queueMicrotask(() => console.log('microtask'));
const original = { self: null, date: new Date(5), big: 1n, map: new Map([[{}, 1]]), error: new RangeError('r') };
original.self = original;
const copy = structuredClone(original);
console.log(copy.self === copy, copy.date.getTime(), copy.map.size, copy.error instanceof RangeError);
try {
  structuredClone({ f() {} });
} catch (error) {
  console.log(error.name, error.message);
}
