// Errors of workers arrive with their stack.
import { Worker } from 'node:worker_threads';
for (const code of [
  "throw new TypeError('thrown')",
  "Promise.reject(new Error('rejected'))",
  'throw 5',
  'process.exit(3)',
  "setTimeout(() => { throw Object.assign(new Error('late'), { own: 1 }) })",
]) {
  const worker = new Worker(code, { eval: true });
  worker.on('error', (error) => console.log('error', error?.stack?.split('\n').slice(0, 2) ?? error, error?.own));
  console.log(await new Promise((resolve) => worker.on('exit', resolve)));
}
