// Garbage, young and old, and memory outside of the heap: more than the heap may hold at once.
let kept = [];
let sum = 0;
for (let round = 0; round < 24; round++) {
  const garbage = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `${round}-${i}`, list: [i, round] }));
  kept.push(garbage.filter(({ i }) => i % 20 === 0));
  if (kept.length > 10) kept = kept.slice(5);
  const bytes = Buffer.alloc(2 << 20, round);
  sum = (sum + bytes[round] + garbage[round].list[0]) % 1_000_007;
  if (round % 8 === 0) await new Promise(setImmediate);
}
console.log(sum, kept.length, kept.flat().reduce((total, { i }) => total + i, 0));
const big = new Map(Array.from({ length: 50_000 }, (_, i) => [`key ${i}`, i]));
for (let i = 0; i < 50_000; i += 2) big.delete(`key ${i}`);
console.log(big.size, structuredClone([...big].slice(0, 3)), JSON.stringify([...big]).length);
