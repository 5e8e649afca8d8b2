// Without a handler SIGTERM ends the program.
// exit: SIGTERM
process.on('exit', () => console.log('never'));
console.log('before');
setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGTERM');
