// process.reallyExit ends without listeners.
// exit: 8
process.on('exit', () => console.log('never'));
console.log('before');
process.reallyExit(8);
