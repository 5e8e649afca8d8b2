// A worker that needs more memory than it may ends alone.
import { Worker } from 'node:worker_threads';
const worker = new Worker('const all = []; for (;;) all.push([all]);', {
  eval: true,
  resourceLimits: { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 },
});
worker.on('error', (error) => console.log(error.code, error.message));
worker.on('exit', (code) => console.log(code));
console.log(worker.resourceLimits.maxOldGenerationSizeMb, worker.resourceLimits.maxYoungGenerationSizeMb);
