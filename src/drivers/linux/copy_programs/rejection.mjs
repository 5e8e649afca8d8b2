// A rejection that nobody handles.
// exit: 1
// stderr: yes
process.on('uncaughtExceptionMonitor', (error, origin) => console.log(origin, error.message));
console.log('before');
Promise.reject(new RangeError('not handled'));
await new Promise((resolve) => setTimeout(resolve, 60_000));
