// A crash.
// exit: SIGSEGV
import { writeSync } from 'node:fs';
writeSync(1, 'before\n');
process.kill(process.pid, 'SIGSEGV');
setInterval(() => {}, 1000);
