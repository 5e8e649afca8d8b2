// Many children at once, each with its answer.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
const all = await Promise.all(Array.from({ length: 20 }, (_, i) => promisify(execFile)('sh', ['-c', `exit 0; ${i}`]).then(() => i)));
console.log(all.length, all[19]);
