// A top-level await that nobody settles: status 13 and a warning.
// exit: 13
// stderr: yes
process.on('exit', (code) => console.log('exit', code));
console.log('waiting');
await new Promise(() => {});
console.log('never');
