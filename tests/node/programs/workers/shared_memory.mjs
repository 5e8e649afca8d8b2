// Workers share memory, and wait for each other by Atomics.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const shared = new Int32Array(new SharedArrayBuffer(16));
const code = `const { workerData } = require('node:worker_threads');
for (let i = 0; i < 10000; i++) Atomics.add(workerData, 0, 1);
Atomics.add(workerData, 1, 1); Atomics.notify(workerData, 1);`;
const workers = [1, 2].map(() => new Worker(code, { eval: true, workerData: shared }));
await Promise.all(workers.map((worker) => once(worker, 'exit')));
console.log(shared, Atomics.wait(shared, 2, 0, 5), await Atomics.waitAsync(shared, 2, 1).value);
