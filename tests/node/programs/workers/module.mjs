// A worker that is a module of its own file, and the main module as a worker.
import { writeFileSync } from 'node:fs';
import { isMainThread, Worker } from 'node:worker_threads';
if (isMainThread) {
  writeFileSync(
    'own.mjs',
    "import { parentPort } from 'node:worker_threads'; await 1; parentPort.postMessage([import.meta.url, import.meta.main, process.argv]);",
  );
  for (const file of [new URL('./own.mjs', import.meta.url), new URL(import.meta.url)]) {
    const worker = new Worker(file, { stdout: false });
    worker.on('message', (message) => console.log(message));
    await new Promise((resolve) => worker.on('exit', resolve));
  }
} else {
  console.log('as a worker', import.meta.url, import.meta.main);
}
