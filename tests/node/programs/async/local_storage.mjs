// AsyncLocalStorage through timers, promises, events and ticks.
// host: yes
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { readFile } from 'node:fs';
const storage = new AsyncLocalStorage();
const show = (where) => console.log(where, storage.getStore());
show('outside');
await storage.run({ id: 1 }, async () => {
  show('inside');
  await null;
  show('after await');
  await new Promise((resolve) => setTimeout(() => resolve(show('timer')), 1));
  await new Promise((resolve) => readFile('/dev/null', () => resolve(show('io'))));
  storage.exit(() => show('exit'));
  process.nextTick(show, 'tick');
});
const bound = storage.run(2, () => AsyncResource.bind(() => show('bound')));
const snapshot = storage.run(3, () => AsyncLocalStorage.snapshot());
new EventEmitter().on('x', bound).emit('x');
snapshot(() => show('snapshot'));
