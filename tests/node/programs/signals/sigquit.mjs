// SIGQUIT, which would leave a core.
// exit: SIGQUIT
process.kill(process.pid, 'SIGQUIT');
setInterval(() => {}, 1000);
