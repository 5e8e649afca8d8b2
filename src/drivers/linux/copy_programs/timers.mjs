// The order of what waits: ticks, microtasks, immediates, and timers by their time.
import { setTimeout as sleep } from 'node:timers/promises';
const seen = [];
queueMicrotask(() => seen.push('microtask'));
process.nextTick(() => seen.push('tick'));
await new Promise((resolve) => setImmediate(resolve)); // with a timer it would depend on which is due first
seen.push('immediate');
setTimeout(() => seen.push('early'), 5);
await sleep(30, seen.push('begin'));
let rounds = 0;
await new Promise((resolve) => {
  const interval = setInterval(() => ++rounds === 3 && (clearInterval(interval), resolve()), 2);
});
const signal = AbortSignal.timeout(5);
await sleep(60_000, null, { signal }).catch(({ name }) => seen.push(name));
console.log(seen, rounds, setTimeout(() => {}, 1).unref().hasRef());
