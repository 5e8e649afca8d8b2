// What follows asynchronous work: AsyncLocalStorage, diagnostics channels, events, vm contexts, compile-time errors.
import { AsyncLocalStorage } from 'node:async_hooks';
import diagnostics from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import vm from 'node:vm';
const storage = new AsyncLocalStorage();
const seen = await Promise.all([1, 2, 3].map((id) => storage.run(id, async () => (await sleep(4 - id), storage.getStore()))));
console.log(seen, storage.getStore());
diagnostics.subscribe('own', (message, name) => console.log(name, message, storage.getStore()));
storage.run('inside', () => diagnostics.channel('own').publish({ a: 1 }));
new EventEmitter().on('x', function (...values) { console.log(this.listenerCount('x'), values); }).emit('x', 1, 2);
console.log(vm.runInNewContext('[typeof console, a + 1, new Array() instanceof Array]', { a: 1 }));
try {
  new vm.Script('let = 1 +', { filename: 'own.js' });
} catch ({ name, stack }) {
  console.log(name, stack.split('\n').slice(0, 4));
}
console.log(new Intl.DateTimeFormat('de', { dateStyle: 'full', timeZone: 'Asia/Tokyo' }).format(0), new Date(0).toString());
