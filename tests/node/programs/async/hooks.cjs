// Every resource that a small program makes, by the hooks.
const { createHook } = require('node:async_hooks');
const seen = [];
createHook({ init: (id, type) => seen.push(type) }).enable();
setTimeout(() => {}, 1);
Promise.resolve().then(() => {});
require('node:fs').readFile('/dev/null', () => {});
process.on('exit', () => console.log(seen));
