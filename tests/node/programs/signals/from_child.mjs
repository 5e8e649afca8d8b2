// A child sends a signal to its parent.
import { spawn } from 'node:child_process';
const seen = []; // in whichever order
const alive = setInterval(() => {}, 1000);
const done = () => {
  if (seen.length < 2) return;
  clearInterval(alive);
  console.log(seen.sort());
};
process.once('SIGUSR2', (name) => done(seen.push(name)));
spawn('sh', ['-c', 'kill -USR2 $PPID']).on('exit', (code) => done(seen.push(`exit ${code}`)));
