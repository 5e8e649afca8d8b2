// Pipes beyond the third.
import { spawn } from 'node:child_process';
const child = spawn('sh', ['-c', 'echo three >&3; read line <&4; echo "$line" >&3'], {
  stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
});
let text = '';
child.stdio[3].setEncoding('utf8').on('data', (part) => (text += part));
child.stdio[4].end('four\n');
child.on('close', (code) => console.log(code, text, child.stdio.length));
