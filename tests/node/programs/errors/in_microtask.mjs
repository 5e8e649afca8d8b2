// An error in a microtask.
// exit: 1
// stderr: yes
queueMicrotask(() => {
  throw new Error('in a microtask');
});
