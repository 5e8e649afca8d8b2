// Handlers of signals, in order, and the end of listening.
const alive = setInterval(() => {}, 1000); // signals alone do not keep a program
const names = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2', 'SIGWINCH', 'SIGCONT', 'SIGCHLD', 'SIGALRM', 'SIGPIPE', 'SIGQUIT', 'SIGIO'];
for (const name of names) {
  const done = new Promise((resolve) => process.once(name, (...values) => resolve(values)));
  process.kill(process.pid, name);
  console.log(await done);
}
console.log(process.eventNames().filter((name) => /^SIG/.test(String(name))));
clearInterval(alive);
