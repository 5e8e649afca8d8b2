// To whom the entries of the process in /proc belong, which says whether it may be traced.
import { readFileSync, statSync } from 'node:fs';
for (const name of ['', '/fd', '/status', '/mem', '/environ', '/maps'])
  console.log(name, statSync(`/proc/self${name}`).uid, statSync(`/proc/self${name}`).mode.toString(8));
console.log(readFileSync('/proc/self/loginuid', 'utf8'), readFileSync('/proc/self/sessionid', 'utf8'));
