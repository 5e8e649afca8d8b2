// What runs when at the start of an ES module.
setTimeout(() => console.log('timeout'), 0);
process.nextTick(() => console.log('tick'));
queueMicrotask(() => console.log('microtask'));
Promise.resolve()
  .then(() => console.log('promise'))
  .then(() => console.log('second promise'));
process.nextTick(() => Promise.resolve().then(() => console.log('promise of tick')));
console.log('main');
