// How values are shown.
// host: yes
import util from 'node:util';
class Own {
  #hidden = 1;
  shown = 2;
  get getter() {
    return 1;
  }
  static [Symbol.toStringTag] = 'T';
}
const cyclic = { name: 'c' };
cyclic.self = cyclic;
console.log([
  new Own(),
  Own,
  cyclic,
  new Map([[{ a: 1 }, new Set([1, 'b'])]]),
  new WeakMap(),
  Symbol.iterator,
  () => {},
  async function named() {},
  function* () {},
  class extends Own {},
  -0,
  1n,
  [1, , 3],
  [undefined, null],
]);
console.log(
  new Proxy({ a: 1 }, {}),
  Object.create(null),
  new Date(0),
  /re/g,
  new Uint8Array(3),
  new ArrayBuffer(4),
  Promise.resolve(5),
  Promise.reject(6).catch(() => {}) && 0,
  new Error('e').message,
  [...'long array of many characters'.repeat(5)],
  globalThis.process === process,
);
console.log(
  util.inspect(
    { a: { b: { c: { d: {} } } }, long: 'x'.repeat(200), 'key with space': 1 },
    { depth: 1, maxStringLength: 10, compact: false, sorted: true, showHidden: true },
  ),
);
console.log(
  util.format('%s %d %i %f %j %o %O %%', 'a', 1.5, 1.5, '2', {}, [], {}),
  util.inspect('it\'s "quoted"'),
  util.inspect(new Map([[1, 2]]).entries()),
  util.types.isProxy(new Proxy({}, {})),
);
console.log(
  { [util.inspect.custom]: () => 'own way' },
  util.isDeepStrictEqual(new Map([[1, {}]]), new Map([[1, {}]])),
  util.parseArgs({ args: ['-f', '--bar', 'b'], options: { f: { type: 'boolean', short: 'f' }, bar: { type: 'string' } } }).values,
);
