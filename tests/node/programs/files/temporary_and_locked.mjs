// Names that must be new, and files that vanish while they are open.
import fs from 'node:fs';
fs.writeFileSync('x', '1', { flag: 'wx' });
try {
  fs.writeFileSync('x', '2', { flag: 'wx' });
} catch (error) {
  console.log(error.code);
}
const fd = fs.openSync('x', 'r+');
fs.unlinkSync('x');
fs.writeSync(fd, 'still here');
console.log(fs.readFileSync(`/proc/self/fd/${fd}`, 'utf8'), fs.fstatSync(fd).nlink, fs.existsSync('x'));
console.log(fs.readlinkSync(`/proc/self/fd/${fd}`), fs.mkdtempSync('d-').length, fs.readdirSync('.').length);
