// An exit code of the program's own goes before that.
// exit: 4
process.exitCode = 4;
await new Promise(() => {});
