// No name is global that is not of Node.js.
console.log(Object.getOwnPropertyNames(globalThis).sort().join(' '));
console.log(
  Object.getOwnPropertySymbols(globalThis),
  Object.keys(globalThis),
  globalThis[Symbol.toStringTag],
  Object.getPrototypeOf(globalThis) === Object.prototype,
);
for (const name of ['process', 'Buffer', 'fetch', 'crypto', 'navigator', 'global', 'performance', 'localStorage', 'Iterator']) {
  const { value, get, set, ...rest } = Object.getOwnPropertyDescriptor(globalThis, name) ?? {};
  console.log(name, typeof value, typeof get, typeof set, rest);
}
