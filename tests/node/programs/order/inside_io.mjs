// Within a callback of I/O immediates go before timers.
// host: yes
import { readFile } from 'node:fs';
readFile('/dev/null', () => {
  setTimeout(() => console.log('timeout'), 0);
  setImmediate(() => console.log('immediate'));
  process.nextTick(() => console.log('tick'));
});
