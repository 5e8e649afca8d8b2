// SIGINT does, too.
// exit: SIGINT
setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGINT');
