// A cluster: workers that share a port.
import cluster from 'node:cluster';
import http from 'node:http';
import { once } from 'node:events';
if (cluster.isPrimary) {
  const workers = [cluster.fork(), cluster.fork()];
  const listening = await Promise.all(workers.map((worker) => once(worker, 'listening')));
  const { port } = listening[0][0];
  const answers = await Promise.all(
    [1, 2, 3, 4].map(() => fetch(`http://127.0.0.1:${port}/`, { headers: { connection: 'close' } }).then((answer) => answer.text())),
  );
  console.log(
    answers.every((answer) => answer === 'worker'),
    Object.keys(cluster.workers),
    cluster.schedulingPolicy,
  );
  for (const worker of workers) worker.disconnect();
  console.log(await Promise.all(workers.map((worker) => once(worker, 'exit'))));
} else {
  http.createServer((_, answer) => answer.end('worker')).listen(0, '127.0.0.1');
}
