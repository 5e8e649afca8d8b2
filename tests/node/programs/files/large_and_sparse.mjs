// Large files, sparse files, and the end of the disk.
import fs from 'node:fs';
const fd = fs.openSync('sparse', 'w');
fs.writeSync(fd, 'end', 100 << 20);
console.log(fs.fstatSync(fd).size, fs.fstatSync(fd).blocks < 100);
try {
  fs.ftruncateSync(fd, 2 ** 40);
  console.log('truncated');
} catch (error) {
  console.log(error.code);
}
fs.writeFileSync('big', Buffer.alloc(20 << 20, 1));
console.log(fs.statSync('big').size, fs.readFileSync('big').at(-1));
