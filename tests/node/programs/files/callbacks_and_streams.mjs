// Files by callbacks and streams.
import fs from 'node:fs';
import { finished } from 'node:stream/promises';
const out = fs.createWriteStream('big.txt', { highWaterMark: 1000 });
for (let i = 0; i < 1000; i++) out.write(`line ${i}\n`);
out.end();
await finished(out);
let chunks = 0;
let length = 0;
for await (const chunk of fs.createReadStream('big.txt', { start: 10, end: 5009, highWaterMark: 1024 })) {
  chunks++;
  length += chunk.length;
}
console.log(out.bytesWritten, chunks, length);
fs.readFile('missing', (error, data) => console.log(error.code, data));
fs.stat('.', (error, stat) => fs.readdir('/workspace', (_, names) => console.log(error, stat.isDirectory(), names.sort())));
