// Hooks of promises see those of the program only.
import { promiseHooks } from 'node:v8';
const counts = { init: 0, settled: 0 };
const stop = promiseHooks.createHook({ init: () => counts.init++, settled: () => counts.settled++ });
await Promise.all([1, Promise.resolve(2)]);
stop();
console.log(counts);
