// process.exitCode is the exit status if nobody says otherwise.
// exit: 42
process.exitCode = 42;
console.log(process.exitCode);
