// An EventEmitter with its order, once, errors and iterators.
// host: yes
import { EventEmitter, errorMonitor, getEventListeners, once, on } from 'node:events';
const emitter = new EventEmitter({ captureRejections: true });
emitter.on('newListener', (name) => console.log('new', String(name)));
emitter.prependListener('x', () => console.log('first'));
emitter.once('x', (...values) => console.log('once', values));
console.log(
  emitter.emit('x', 1, 2),
  emitter.emit('x'),
  emitter.emit('nobody'),
  getEventListeners(emitter, 'x').length,
  emitter.rawListeners('x').length,
);
emitter.on(errorMonitor, (error) => console.log('monitor', error.message));
emitter.on('error', (error) => console.log('error', error.message));
emitter.on('async', async () => {
  throw new Error('rejected');
});
emitter.emit('async');
await new Promise(setImmediate);
setTimeout(() => emitter.emit('later', 5), 1);
console.log(await once(emitter, 'later'));
setTimeout(() => [1, 2, 3].forEach((n) => emitter.emit('many', n)), 1);
for await (const [value] of on(emitter, 'many')) {
  console.log(value);
  if (value === 3) break;
}
