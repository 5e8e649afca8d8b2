// Options of a worker's own, and which are refused.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker('console.log(process.execArgv); process.emitWarning("x")', { eval: true, execArgv: ['--no-warnings'] });
await once(worker, 'exit');
for (const options of [
  { execArgv: ['--max-old-space-size=50'] },
  { execArgv: ['--no-such-option'] },
  { env: { NODE_OPTIONS: '--no-such' } },
]) {
  try {
    new Worker('', { eval: true, ...options });
  } catch (error) {
    console.log(error.code, error.message);
  }
}
