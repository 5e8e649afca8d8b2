// Which signals the threads block.
import { readdirSync, readFileSync } from 'node:fs';
const masks = readdirSync('/proc/self/task').map((task) => {
  const status = readFileSync(`/proc/self/task/${task}/status`, 'utf8');
  return /^(Name:.*)$/m.exec(status)[1] + ' ' + /^(SigBlk:.*)$/m.exec(status)[1];
});
console.log(masks.sort());
