// The file systems that the program sees, without what is another in each sandbox.
import { readFileSync } from 'node:fs';
const lines = readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\n');
for (const line of lines) {
  const [before, after] = line.split(' - ');
  console.log(before.split(' ')[4], before.split(' ')[5], after.split(' ')[0]);
}
