// Nothing that was stored before the program started is in its stores.
import { AsyncLocalStorage, executionAsyncResource } from 'node:async_hooks';
const storage = new AsyncLocalStorage();
console.log(
  storage.getStore(),
  Reflect.ownKeys(executionAsyncResource()).filter((key) => typeof key === 'string'),
);
storage.enterWith('entered');
await null;
console.log(storage.getStore());
setTimeout(() => console.log(storage.getStore()), 1);
