// Timers as promises, and stopped ones.
// host: yes
import { scheduler, setImmediate, setInterval, setTimeout } from 'node:timers/promises';
console.log(await setTimeout(2, 'timeout'), await setImmediate('immediate'), await scheduler.wait(1), await scheduler.yield());
let count = 0;
for await (const value of setInterval(1, 'tick'))
  if (++count === 3) {
    console.log(value, count);
    break;
  }
await setTimeout(1000, null, { signal: AbortSignal.abort() }).catch((error) => console.log(error.name, error.code, error.message));
