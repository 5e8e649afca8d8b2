// The callback that takes all uncaught exceptions.
process.setUncaughtExceptionCaptureCallback((error) => console.log('captured', error.message));
console.log(process.hasUncaughtExceptionCaptureCallback());
setTimeout(() => {
  throw new Error('one');
}, 1);
