// beforeExit comes again as long as there is new work, and then exit.
let rounds = 0;
process.on('beforeExit', (code) => {
  console.log('beforeExit', code);
  if (rounds++ < 2) setTimeout(() => console.log('work', rounds), 1);
});
process.on('exit', (code) => {
  console.log('exit', code);
  setTimeout(() => console.log('never'), 0);
  process.nextTick(() => console.log('never'));
});
process.once('exit', () => console.log('second listener'));
console.log('main');
