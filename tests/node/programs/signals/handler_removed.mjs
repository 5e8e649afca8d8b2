// Once the handler is gone the signal has its usual effect.
// exit: SIGHUP
const handler = () => {
  console.log('handled');
  process.removeListener('SIGHUP', handler);
  setImmediate(() => process.kill(process.pid, 'SIGHUP'));
};
process.on('SIGHUP', handler);
setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGHUP');
