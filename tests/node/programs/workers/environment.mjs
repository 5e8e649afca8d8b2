// Environments of workers: a copy, a shared one.
import { once } from 'node:events';
import { SHARE_ENV, Worker } from 'node:worker_threads';
process.env.BEFORE = '1';
for (const env of [undefined, SHARE_ENV]) {
  const worker = new Worker("console.log(process.env.BEFORE, process.env.HOME); process.env.FROM_WORKER = 'w';", { eval: true, env });
  await once(worker, 'exit');
  console.log(process.env.FROM_WORKER);
}
