// What is transferred is gone here; ports and buffers can be.
import { once } from 'node:events';
import { MessageChannel, receiveMessageOnPort, Worker } from 'node:worker_threads';
const worker = new Worker(
  `require('node:worker_threads').parentPort.once('message', ({ buffer, port }) => {
    port.postMessage(new Uint8Array(buffer)[0]);
    port.close();
  });`,
  { eval: true },
);
const ended = once(worker, 'exit'); // which may come before the message
const { port1, port2 } = new MessageChannel();
const buffer = new Uint8Array([7, 8]).buffer;
worker.postMessage({ buffer, port: port2 }, [buffer, port2]);
console.log(buffer.byteLength, await once(port1, 'message'));
await ended;
const other = new MessageChannel();
other.port1.postMessage({ a: 1 });
console.log(receiveMessageOnPort(other.port2), receiveMessageOnPort(other.port2));
try {
  other.port1.postMessage(() => {});
} catch (error) {
  console.log(error.name, error.code, error.message);
}
other.port1.close();
