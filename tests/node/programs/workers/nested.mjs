// Workers of workers, and data for the whole environment.
import { once } from 'node:events';
import { Worker, getEnvironmentData, setEnvironmentData } from 'node:worker_threads';
setEnvironmentData('key', { a: 1 });
const code = `const { Worker, getEnvironmentData, workerData, parentPort, threadId } = require('node:worker_threads');
console.log(workerData.depth, getEnvironmentData('key'));
if (workerData.depth < 3) new Worker(workerData.code, { eval: true, workerData: { ...workerData, depth: workerData.depth + 1 } });`;
await once(new Worker(code, { eval: true, workerData: { code, depth: 1 } }), 'exit');
console.log(getEnvironmentData('key'));
