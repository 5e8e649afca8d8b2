// Two hundred connections at once.
import net from 'node:net';
import { once } from 'node:events';
const server = net.createServer((socket) => socket.end('x')).listen(0, '127.0.0.1');
await once(server, 'listening');
const sockets = Array.from({ length: 200 }, () => net.connect(server.address().port, '127.0.0.1').resume());
await Promise.all(sockets.map((socket) => once(socket, 'close')));
console.log(sockets.every(({ bytesRead }) => bytesRead === 1));
server.close(() => console.log('closed'));
