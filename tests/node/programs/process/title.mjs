// The title is that of the command, can be changed, and the kernel sees the change.
import { readFileSync } from 'node:fs';
console.log(process.title);
process.title = 'other title';
console.log(process.title, JSON.stringify(readFileSync('/proc/self/comm', 'utf8')));
console.log(readFileSync('/proc/self/cmdline', 'utf8').replace(/\0+$/, ''));
