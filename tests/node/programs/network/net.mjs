// Sockets: TCP, half-closed, and by a path.
import net from 'node:net';
import { once } from 'node:events';
for (const where of [{ port: 0, host: '127.0.0.1' }, { port: 0, host: '::1' }, { path: '/tmp/socket' }, { path: '\0abstract' }]) {
  const server = net.createServer({ allowHalfOpen: true }, (socket) =>
    socket.on('data', (data) => socket.write(`echo ${data}`)).on('end', () => socket.end('bye')),
  );
  server.listen(where);
  try {
    await once(server, 'listening');
  } catch (error) {
    console.log(where, error.code);
    continue;
  }
  const address = server.address();
  const client = net.connect(address.port ? { ...address, host: address.address } : { path: address });
  let text = '';
  client.setEncoding('utf8').on('data', (data) => {
    text += data;
    if (text.startsWith('echo')) client.end();
  });
  client.write('hello');
  await once(client, 'close');
  console.log(typeof address, address.family, text);
  server.close();
}
net.connect(9, '127.0.0.1').on('error', (error) => console.log(error.message));
