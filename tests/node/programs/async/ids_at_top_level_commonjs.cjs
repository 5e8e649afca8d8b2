// And of CommonJS, where they are always 1 and 0.
const { executionAsyncId, triggerAsyncId, AsyncResource } = require('node:async_hooks');
console.log(executionAsyncId(), triggerAsyncId());
const resource = new AsyncResource('Own');
console.log(resource.asyncId(), resource.triggerAsyncId());
setImmediate(() => console.log(executionAsyncId(), triggerAsyncId()));
