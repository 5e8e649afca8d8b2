// Ends in the middle of its work, with a code, and its listener is heard.
// exit: 7
// stderr: yes
process.on('exit', (code) => console.log('exit', code, process.exitCode));
setTimeout(() => console.log('never'), 60_000);
process.stdout.write('half a line');
process.exitCode = 3;
process.stderr.write('and an error\n');
process.exit(7);
