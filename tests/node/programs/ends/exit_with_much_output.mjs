// What was written to a pipe before process.exit() arrives, as long as the pipe can hold it.
// exit: 9
// stderr: yes
for (let i = 0; i < 500; i++) console.log(`${i}`.padStart(100, '.'));
console.error('x'.repeat(20_000));
process.exit(9);
