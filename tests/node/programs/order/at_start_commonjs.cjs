// In CommonJS ticks go before promises.
process.nextTick(() => console.log('tick'));
queueMicrotask(() => console.log('microtask'));
Promise.resolve()
  .then(() => {
    console.log('promise');
    process.nextTick(() => console.log('tick of promise'));
  })
  .then(() => console.log('second promise'));
process.nextTick(() => Promise.resolve().then(() => console.log('promise of tick')));
console.log('main');
