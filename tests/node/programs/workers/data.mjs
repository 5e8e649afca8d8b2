// A worker gets its data and answers.
import { isMainThread, Worker, parentPort, threadId, workerData } from 'node:worker_threads';
console.log(isMainThread, parentPort, threadId, workerData);
const text = `const { parentPort, workerData, isMainThread, threadId } = require('node:worker_threads');
const { argv, execArgv, env, title } = process;
parentPort.postMessage({ workerData, isMainThread, threadId, argv: argv.slice(2), execArgv, env: env.OWN, title });`;
const worker = new Worker(text, { eval: true, workerData: { a: [1, 2n, new Map([[1, 2]])] }, argv: ['x', 'y'], env: { OWN: 'own' } });
// They come by two ports, and either may be looked at first.
const seen = {};
worker.on('online', () => (seen.online = worker.threadId));
worker.on('message', (message) => (seen.message = message));
const code = await new Promise((resolve) => worker.on('exit', resolve));
console.log(seen.online, seen.message, code, worker.threadId);
