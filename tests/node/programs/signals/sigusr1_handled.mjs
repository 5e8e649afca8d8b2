// With a handler of its own the program gets SIGUSR1 instead.
import inspector from 'node:inspector';
process.once('SIGUSR1', (...values) => {
  console.log(values, inspector.url());
  clearInterval(alive);
});
const alive = setInterval(() => {}, 1000);
process.kill(process.pid, 'SIGUSR1');
