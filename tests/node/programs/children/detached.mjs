// A detached child has a session of its own; what is left of it ends with the program.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
const ids = (pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(1, 4).map(Number);
for (const detached of [false, true]) {
  const child = spawn('sleep', ['5'], { detached, stdio: 'ignore' });
  await new Promise((resolve) => child.on('spawn', resolve));
  const [parent, group, session] = ids(child.pid);
  console.log(detached, parent === process.pid, group === child.pid, session === child.pid, session === process.pid);
  child.unref();
}
