// Numbers, big numbers, regular expressions.
// host: yes
console.log(
  0.1 + 0.2,
  2n ** 200n,
  BigInt.asUintN(8, 257n),
  (255).toString(36),
  Number.MAX_SAFE_INTEGER,
  (1e21).toString(),
  5 / -0,
  Math.fround(5.05),
  Math.hypot(3, 4),
  (25).toString(2),
  parseInt('08'),
  1_000,
);
console.log(
  '2024-02-29'.match(/(?<y>\d{4})-(?<m>\d\d)/u).groups.y,
  'aBc'.replace(/(?<=a)b/i, (x) => `[${x}]`),
  [...'a1b2'.matchAll(/[a-z](\d)/g)].map(([, n]) => n),
  /\p{Script=Greek}/u.test('α'),
  'x'.match(/(y)?/),
  /[\p{L}--[a-z]]/v.test('A'),
);
try {
  new RegExp('(');
} catch (error) {
  console.log(error.message);
}
console.log(
  Math.sin(1),
  Math.exp(1),
  Math.pow(2, 0.5),
  Math.tan(1e10),
  (1.005).toFixed(2),
  JSON.stringify({ a: undefined, b: NaN, c: new Date(0), d: [() => {}] }),
);
