// A child is stopped, goes on and ends.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
const child = spawn('sleep', ['20']);
const state = () => readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1][0];
const until = async (wanted) => {
  while (state() !== wanted) await new Promise(setImmediate);
  console.log(wanted);
};
child.kill('SIGSTOP');
await until('T');
child.kill('SIGCONT');
await until('S');
child.kill('SIGTERM');
child.on('exit', (...values) => console.log(values));
