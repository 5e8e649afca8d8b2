// Code that is compiled while it runs counts right.
// host: yes
function hash(n) {
  let h = 2166136261;
  for (let i = 0; i < n; i++) h = Math.imul(h ^ (i & 255), 16777619) >>> 0;
  return h;
}
let last = 0;
for (let round = 0; round < 200; round++) last = hash(50_000);
const points = Array.from({ length: 1000 }, (_, i) => (i % 100 ? { x: i, y: 1 } : { y: 1, x: i, z: 0 }));
let sum = 0;
for (let round = 0; round < 300; round++) for (const point of points) sum += point.x * point.y;
console.log(last, sum);
