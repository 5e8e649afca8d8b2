// Much output on both streams, and the end right after it: all of it arrives.
// exit: 5
// stderr: yes
for (let i = 0; i < 4000; i++) console.log(`${i} ${'.'.repeat(70)}`);
process.stderr.write('e'.repeat(100_000));
process.exitCode = 5;
