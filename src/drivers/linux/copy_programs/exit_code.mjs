// Ends by itself, with the code that it has set; a listener may do more work before.
// exit: 42
let rounds = 0;
process.on('beforeExit', (code) => {
  console.log('before', code);
  if (++rounds < 3) setImmediate(() => console.log('more'));
});
process.on('exit', (code) => console.log('exit', code));
process.exitCode = 42;
