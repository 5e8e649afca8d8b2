// process.exit() ends at once; what was printed before is there, and what comes after is not.
// exit: 3
process.on('exit', (code) => console.log('exit', code));
process.on('beforeExit', () => console.log('never'));
console.log('before');
setTimeout(() => console.log('never'), 0);
process.exit(3);
