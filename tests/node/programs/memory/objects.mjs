// A heap of many objects.
const all = new Map();
for (let i = 0; i < 100_000; i++) all.set(`key ${i}`, { i, list: [i, i + 1], text: `text ${i}` });
let sum = 0;
for (const { list } of all.values()) sum += list[1];
console.log(all.size, sum, process.memoryUsage().heapUsed > 10e6);
