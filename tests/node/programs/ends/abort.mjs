// process.abort() is a signal.
// exit: SIGABRT
// stderr: yes
process.on('exit', () => console.log('never'));
import { writeSync } from 'node:fs';
writeSync(1, 'before\n');
process.on('SIGABRT', () => console.log('never'));
process.stderr.write('last words\n');
process.kill(process.pid, 'SIGABRT');
process.abort();
