// uncaughtException and its monitor, when somebody listens; the program goes on.
process.on('uncaughtExceptionMonitor', (error, origin) => console.log('monitor', error.message, origin));
process.on('uncaughtException', (error, origin) => console.log('uncaught', error.message, origin));
setTimeout(() => {
  throw new Error('first');
}, 1);
setTimeout(() => Promise.reject(new Error('second')), 5);
setTimeout(() => console.log('still here'), 10);
