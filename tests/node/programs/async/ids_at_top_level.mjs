// The ids of asynchronous work at the start of an ES module.
import { executionAsyncId, executionAsyncResource, triggerAsyncId } from 'node:async_hooks';
console.log(executionAsyncId(), triggerAsyncId(), typeof executionAsyncResource());
setTimeout(() => console.log(executionAsyncId() > 0, triggerAsyncId() >= 0), 1);
