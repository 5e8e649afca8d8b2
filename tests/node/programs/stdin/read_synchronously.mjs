// fs.readFileSync(0) and readSync.
// stdin: {"repeat": "line\n", "times": 100000}
import { readFileSync, readSync } from 'node:fs';
const bytes = Buffer.alloc(3);
console.log(readSync(0, bytes), String(bytes));
console.log(readFileSync(0).length, readSync(0, bytes));
