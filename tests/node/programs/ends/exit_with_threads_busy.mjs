// The program ends at once, though the pool and a worker are busy.
// exit: 2
import { pbkdf2 } from 'node:crypto';
import { Worker } from 'node:worker_threads';
const worker = new Worker("require('node:worker_threads').parentPort.postMessage(1); for (;;);", { eval: true });
worker.on('message', () => {
  pbkdf2('p', 's', 1e5, 64, 'sha512', () => console.log('never'));
  process.exit(2);
});
