// Nobody reads what is printed: an error, no signal.
import { spawn } from 'node:child_process';
const child = spawn('true', { stdio: ['pipe', 'ignore', 'ignore'] });
child.on('exit', () => {
  child.stdin.on('error', (error) => console.log(error.code, error.syscall));
  child.stdin.write('x'.repeat(100_000));
});
