// A server goes to a forked child.
import { fork } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import net from 'node:net';
writeFileSync(
  'child.cjs',
  `process.on('message', (_, server) => {
    server.on('connection', (socket) => {
      socket.end('from the child');
      server.close();
      process.disconnect();
    });
    process.send('ready');
  });`,
);
const seen = []; // in whichever order
const server = net.createServer();
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const child = fork('child.cjs');
  child.send('server', server, () => server.close());
  child.once('message', () => net.connect(port, '127.0.0.1').on('data', (data) => seen.push(String(data))));
  child.on('exit', (code) => seen.push(`exit ${code}`));
  process.on('exit', () => console.log(seen.sort()));
});
