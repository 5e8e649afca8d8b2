// A channel to all.
import { once } from 'node:events';
import { BroadcastChannel, Worker } from 'node:worker_threads';
const channel = new BroadcastChannel('all');
const worker = new Worker(
  `const channel = new BroadcastChannel('all');
  channel.onmessage = ({ data }) => {
    channel.postMessage(data + 1);
    channel.close();
  };
  require('node:worker_threads').parentPort.postMessage('ready');`,
  { eval: true },
);
await once(worker, 'message');
channel.postMessage(1);
channel.onmessage = ({ data }) => {
  console.log(data);
  channel.close();
};
