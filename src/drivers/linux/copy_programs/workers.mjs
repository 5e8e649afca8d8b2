// Threads: messages, shared memory, an error in one, one that is ended.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const shared = new Int32Array(new SharedArrayBuffer(8));
const count = `const { workerData, parentPort } = require('node:worker_threads');
for (let i = 0; i < 20000; i++) Atomics.add(workerData, 0, 1);
parentPort.postMessage({ map: new Map([[1, new Date(0)]]), bytes: new Uint8Array([1, 2]) });`;
const workers = [1, 2, 3].map(() => new Worker(count, { eval: true, workerData: shared }));
console.log(await Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0])));
await Promise.all(workers.map((worker) => worker.threadId === -1 || once(worker, 'exit')));
console.log(shared[0]);
const failing = new Worker("throw new Error('in a thread')", { eval: true });
const [error] = await once(failing, 'error');
console.log(error.message);
const endless = new Worker('for (;;);', { eval: true });
await once(endless, 'online');
console.log(await endless.terminate());
