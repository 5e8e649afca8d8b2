// 200 MB of buffers, one after the other and at once.
let sum = 0;
const kept = [];
for (let i = 0; i < 20; i++) {
  kept.push(Buffer.alloc(10 << 20, i));
  sum += kept[i][5 << 20];
}
console.log(sum, process.memoryUsage().arrayBuffers >= 200 << 20, process.memoryUsage().rss > 200 << 20);
