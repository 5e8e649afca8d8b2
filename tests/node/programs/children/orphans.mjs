// Whose child an orphan becomes: not the program's.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
const child = spawn('sh', ['-c', 'sleep 20 >/dev/null & echo $!'], { stdio: ['ignore', 'pipe', 'ignore'] });
let pid = '';
child.stdout.on('data', (text) => (pid += text));
child.on('close', () => {
  const orphan = Number(pid);
  const parent = Number(readFileSync(`/proc/${orphan}/stat`, 'utf8').split(') ')[1].split(' ')[1]);
  console.log(parent === process.pid, parent);
  process.kill(orphan, 'SIGKILL');
});
