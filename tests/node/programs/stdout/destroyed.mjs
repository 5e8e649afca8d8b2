// A destroyed output takes nothing.
// stderr: yes
console.log('before');
process.stdout.destroy();
console.log('lost');
process.stdout.on('error', ({ code }) => console.error(code));
setImmediate(() => console.error(process.stdout.destroyed));
