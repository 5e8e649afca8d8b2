// Output and input of workers.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker(
  "process.stdin.on('data', (data) => { process.stdout.write('out ' + data); process.stderr.write('err ' + data); });",
  { eval: true, stdin: true, stdout: true, stderr: true },
);
const texts = { stdout: '', stderr: '' };
for (const name of ['stdout', 'stderr']) worker[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
worker.stdin.end('text');
await once(worker, 'exit');
console.log(texts);
