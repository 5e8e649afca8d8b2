// The threads that a fresh program has, by name.
import { readdirSync, readFileSync } from 'node:fs';
const tasks = readdirSync('/proc/self/task')
  .map(Number)
  .sort((one, other) => one - other);
const names = tasks.map((task) => readFileSync(`/proc/self/task/${task}/comm`, 'utf8').trim());
console.log(tasks[0] === process.pid, names[0], names.sort());
