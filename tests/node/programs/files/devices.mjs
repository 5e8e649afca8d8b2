// The devices that everybody expects.
import fs from 'node:fs';
const bytes = Buffer.alloc(8, 1);
for (const name of ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom'])
  console.log(name, fs.readSync(fs.openSync(name), bytes), name.endsWith('zero') ? bytes : '');
try {
  fs.writeFileSync('/dev/full', 'x');
} catch (error) {
  console.log(error.code);
}
console.log(fs.readdirSync('/dev').sort(), fs.readlinkSync('/dev/stdout'), fs.realpathSync('/dev/fd') === `/proc/${process.pid}/fd`);
fs.writeFileSync('/dev/stdout', 'to stdout\n');
