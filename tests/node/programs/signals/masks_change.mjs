// The kernel sees that the program handles signals, and which it ignores.
import { readFileSync } from 'node:fs';
const masks = () =>
  readFileSync('/proc/self/status', 'utf8')
    .match(/^Sig(Blk|Ign|Cgt).*$/gm)
    .join(' ');
console.log(masks());
const handler = () => {};
process.on('SIGTERM', handler).on('SIGUSR2', handler);
console.log(masks());
process.off('SIGTERM', handler).off('SIGUSR2', handler);
console.log(masks());
