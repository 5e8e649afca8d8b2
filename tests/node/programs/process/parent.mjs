// The program leads its session and process group, and its parent is beyond its sight.
import { readFileSync } from 'node:fs';
const [, parent, group, session, terminal, foreground] = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ').map(Number);
console.log(process.ppid, parent, group === process.pid, session === process.pid, terminal, foreground);
