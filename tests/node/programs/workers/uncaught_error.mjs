// An error of a worker that nobody handles ends the program.
// exit: 1
// stderr: yes
import { Worker } from 'node:worker_threads';
new Worker("throw new Error('in the worker')", { eval: true });
