// Children that are left over do not keep the program, nor the run.
import { spawn } from 'node:child_process';
const child = spawn('sleep', ['30'], { stdio: 'ignore', detached: true });
child.unref();
child.on('spawn', () => console.log('ends'));
