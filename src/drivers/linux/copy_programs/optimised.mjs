// Code that is compiled while it runs, in the background, and falls back when its types change.
const step = (state, value) => (Math.imul(state ^ value, 0x5bd1e995) + (state >>> 13)) | 0;
let state = 1;
for (let i = 0; i < 3e6; i++) state = step(state, i);
console.log(state);
class Point {
  constructor(x) {
    this.x = x;
  }
  add(other) {
    return new Point(this.x + other.x);
  }
}
let point = new Point(0);
for (let i = 0; i < 3e5; i++) point = point.add(new Point(i));
console.log(point.x, point.add({ x: ' and text' }).x, point.add({ x: 0.5 }).x);
console.log(Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1009).sort((a, b) => a - b).slice(0, 5));
console.log('a1b22c333'.replace(/\d+/g, (digits) => `<${digits.length}>`), eval('[1, 2].map((x) => x * 2)'));
