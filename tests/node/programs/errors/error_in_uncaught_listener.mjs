// An error while an error is handled.
// exit: 7
// stderr: yes
process.on('uncaughtException', (error) => {
  throw new Error(`handler failed after ${error.message}`);
});
throw new Error('first');
