// A worker in an endless loop is terminated; its exit status is 1.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker("require('node:worker_threads').parentPort.postMessage('ready'); for (;;);", { eval: true });
await once(worker, 'message');
console.log(await worker.terminate(), worker.threadId);
const idle = new Worker('setInterval(() => {}, 1000)', { eval: true });
idle.unref();
console.log(await idle.terminate());
