// Control groups and namespaces as the program sees them; their numbers are others in each sandbox.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
console.log(readFileSync('/proc/self/cgroup', 'utf8'));
console.log(
  readFileSync('/proc/self/uid_map', 'utf8').replace(/ +/g, ' ').trim().split(' ')[0],
  readFileSync('/proc/self/setgroups', 'utf8'),
);
for (const name of readdirSync('/proc/self/ns')) console.log(name, readlinkSync(`/proc/self/ns/${name}`).replace(/\d+/, 'N'));
