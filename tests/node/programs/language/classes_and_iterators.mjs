// Classes, generators, proxies, symbols.
// host: yes
class Counter {
  static #made = 0;
  #n = 0;
  static {
    this.label = 'counter';
  }
  increment() {
    Counter.#made++;
    return ++this.#n;
  }
  static get made() {
    return Counter.#made;
  }
}
const counter = new Counter();
counter.increment();
console.log(counter.increment(), Counter.made, Counter.label);
function* naturals() {
  let n = 0;
  try {
    while (true) n += (yield n) ?? 1;
  } finally {
    console.log('finally');
  }
}
const it = naturals();
console.log(it.next(), it.next(), it.next(10), it.return('end'), it.next());
const proxy = new Proxy(
  {},
  {
    get: (_, name) => `<${String(name)}>`,
    has: () => true,
    ownKeys: () => ['a'],
    getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
  },
);
console.log(
  proxy.x,
  'y' in proxy,
  Object.keys(proxy),
  Reflect.construct(Date, [0]).getTime(),
  Reflect.ownKeys({ b: 1, a: 2, 1: 3, [Symbol('s')]: 4 }),
);
const [first, ...rest] = new Set([1, 2, 3]);
console.log(
  first,
  rest,
  Object.groupBy([1, 2, 3], (n) => (n % 2 ? 'odd' : 'even')),
  [3, 1, 2].toSorted(),
  [1, 2, 3].at(-1),
  'x'.padStart(3, '-'),
  Array.from({ length: 3 }, (_, i) => i ** 2),
  structuredClone([1n]),
);
