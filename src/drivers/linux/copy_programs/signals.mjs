// Handles one signal, and ends by another.
// exit: SIGTERM
import { once } from 'node:events';
setInterval(() => {}, 60_000);
const usr2 = once(process, 'SIGUSR2');
process.kill(process.pid, 'SIGUSR2');
console.log(await usr2);
process.on('exit', () => console.log('never'));
process.kill(process.pid, 'SIGTERM');
