// The exit status can still be changed in the last moment.
// exit: 5
process.on('exit', () => (process.exitCode = 5));
process.exit(1);
