// What is another in a worker.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const code = `console.log(process.cwd(), process.title, process.exitCode, typeof process.chdir, process.eventNames());
for (const attempt of [() => process.chdir('/'), () => process.umask(0), () => process.abort(), () => process.setuid(1)]) {
  try {
    attempt();
    console.log('done');
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
}
process.on('exit', (code) => console.log('exit', code));`;
await once(new Worker(code, { eval: true, name: 'named' }), 'exit');
