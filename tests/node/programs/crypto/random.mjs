// Random values differ, also between the threads and the children of one program.
import crypto from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker("require('node:worker_threads').parentPort.postMessage(require('node:crypto').randomBytes(8).toString('hex'))", {
  eval: true,
});
const values = [
  crypto.randomBytes(8).toString('hex'),
  crypto.randomUUID(),
  crypto.getRandomValues(new Uint8Array(8)).join(),
  String(Math.random()),
  crypto.randomInt(2 ** 40),
  (await once(worker, 'message'))[0],
];
values.push(execFileSync(process.execPath, ['-p', "crypto.randomBytes(8).toString('hex')"], { encoding: 'utf8' }));
console.log(
  new Set(values).size,
  /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/.test(values[1]),
  crypto.randomBytes(0).length,
);
await new Promise((resolve) => crypto.randomFill(Buffer.alloc(4), (error, bytes) => resolve(console.log(error, bytes.length))));
