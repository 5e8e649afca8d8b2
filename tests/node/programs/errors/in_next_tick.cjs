// An error in process.nextTick, with the stack of a tick.
// exit: 1
// stderr: yes
process.nextTick(() => {
  throw new Error('in a tick');
});
