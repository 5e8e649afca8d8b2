// Descriptors: positions, duplicates, vectors, bad ones.
import fs from 'node:fs';
const fd = fs.openSync('f', 'w+');
console.log(fs.writevSync(fd, [Buffer.from('ab'), Buffer.from('cd')]), fs.writeSync(fd, 'X', 1), fs.fstatSync(fd).size);
const [one, two] = [Buffer.alloc(2), Buffer.alloc(4)];
console.log(fs.readvSync(fd, [one, two], 0), String(one), two);
fs.fsyncSync(fd);
fs.ftruncateSync(fd, 1);
fs.closeSync(fd);
try {
  fs.closeSync(fd);
} catch (error) {
  console.log(error.code, error.syscall);
}
console.log(fs.readFileSync('f', 'utf8'), fs.statfsSync('.').bsize);
