// Immediates of immediates come in the next round; each with its ticks and promises.
// host: yes
setImmediate(() => {
  console.log('first');
  setImmediate(() => console.log('next round'));
  process.nextTick(() => console.log('tick after first'));
  Promise.resolve().then(() => console.log('promise after first'));
});
clearImmediate(setImmediate(() => console.log('never')));
setImmediate(() => console.log('second'));
