// The program itself may set it before it uses the pool.
import { readdirSync } from 'node:fs';
import { pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';
process.env.UV_THREADPOOL_SIZE = '3';
const before = readdirSync('/proc/self/task').length;
await Promise.all(Array.from({ length: 8 }, () => promisify(pbkdf2)('p', 's', 20_000, 8, 'sha256')));
console.log(readdirSync('/proc/self/task').length - before);
