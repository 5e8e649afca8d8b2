// The limits of the process.
import { readFileSync } from 'node:fs';
console.log(readFileSync('/proc/self/limits', 'utf8'));
