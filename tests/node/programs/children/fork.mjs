// A forked child and its channel.
import { fork } from 'node:child_process';
if (process.argv[2] === 'child') {
  process.on('message', (message) => {
    process.send({
      got: message,
      connected: process.connected,
      execArgv: process.execArgv,
      argv: process.argv.slice(1),
      channel: 'NODE_CHANNEL_FD' in process.env,
    });
    process.disconnect();
  });
} else {
  const child = fork(process.argv[1], ['child'], { serialization: 'advanced' });
  child.on('message', (message) => console.log(message));
  const ends = []; // in whichever order
  child.on('disconnect', () => ends.push('disconnect'));
  child.on('exit', (...values) => ends.push(`exit ${values}`));
  process.on('exit', () => console.log(ends.sort()));
  child.send(new Map([[1, { a: 2n }]]));
}
