// A heap that is full ends the program with a report; its numbers are taken out by the parent.
import { spawnSync } from 'node:child_process';
const { status, signal, stderr } = spawnSync(
  process.execPath,
  ['--max-old-space-size=8', '-e', 'const all = []; for (;;) all.push({ a: [1, 2, 3] })'],
  { encoding: 'utf8' },
);
console.log(status, signal, stderr.match(/FATAL ERROR: .*/)?.[0].replace(/.*(?=JavaScript heap)/, ''));
