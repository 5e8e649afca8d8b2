// The files that are mapped, and the kernel's own areas.
import { readFileSync } from 'node:fs';
const lines = readFileSync('/proc/self/maps', 'utf8').trim().split('\n');
console.log([...new Set(lines.map((line) => line.split(/\s+/)[5]).filter(Boolean))].sort());
console.log(lines.some((line) => / rwxp /.test(line)));
