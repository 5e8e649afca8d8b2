// SIGUSR1 starts the inspector of the program, which says so; where it listens is taken out.
import { closeSync, openSync, readFileSync } from 'node:fs';
import inspector from 'node:inspector';
console.log(inspector.url());
closeSync(2);
console.log(openSync('stderr.txt', 'a'));
process.kill(process.pid, 'SIGUSR1');
const timer = setInterval(() => {
  if (!inspector.url()) return;
  clearInterval(timer);
  console.log(inspector.url().replace(/[\da-f-]{36}/, 'ID'), readFileSync('stderr.txt', 'utf8').replace(/[\da-f-]{36}/, 'ID'));
  process.exit();
}, 5);
