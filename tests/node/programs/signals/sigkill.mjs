// SIGKILL ends it at once.
// exit: SIGKILL
import { writeSync } from 'node:fs';
writeSync(1, 'before\n');
process.kill(process.pid, 'SIGKILL');
