// Who the program is, and the rights that its files get.
import { statSync, writeFileSync } from 'node:fs';
console.log(process.umask().toString(8), process.getuid(), process.geteuid(), process.getgid(), process.getegid(), process.getgroups());
process.umask(0o077);
writeFileSync('closed', '');
console.log((statSync('closed').mode & 0o777).toString(8));
for (const name of ['setuid', 'setgid', 'setgroups', 'initgroups']) {
  try {
    console.log(name, process[name](...(name === 'setgroups' ? [[0]] : name === 'initgroups' ? ['root', 0] : [0])));
  } catch (error) {
    console.log(name, error.code, error.message);
  }
}
