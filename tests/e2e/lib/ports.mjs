// Ports of the host, as somebody who connects to them sees them.
import { once } from 'node:events';
import { connect, createServer } from 'node:net';

// A port of 127.0.0.1 where nothing listens.
export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

// Takes a port until the test `t` ends.
export async function takePort(t) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return server.address().port;
}

// True if somebody could listen there now.
export async function isFree(port) {
  const server = createServer();
  const listens = await new Promise((resolve) => {
    server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => resolve(true));
  });
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}

// A connection, closed when the test ends.
export async function dial(t, port, options = {}) {
  const socket = connect({ port, host: '127.0.0.1', ...options });
  socket.on('error', () => {}); // what a test expects it asks for by events
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

// 'connected', or the code of the error.
export const tryToConnect = (port, host) =>
  new Promise((resolve) => {
    const socket = connect({ port, host });
    socket.once('connect', () => resolve('connected')).once('error', (error) => resolve(error.code)).once('close', () => socket.destroy());
    socket.once('connect', () => socket.destroy());
  });

// Waits until a connection has ended, by a reset or in order; what it still sends is dropped.
export const closed = (socket) => new Promise((resolve) => socket.once('close', resolve).resume());

// All that a stream sends until its end.
export async function readAll(stream) {
  const parts = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}

// Reads from a socket until `enough` says so of all bytes so far; those bytes.
export async function readUntil(socket, enough) {
  let all = Buffer.alloc(0);
  while (!enough(all)) {
    const part = socket.read();
    if (part) all = Buffer.concat([all, part]);
    else if (socket.readableEnded || socket.destroyed) throw new Error(`the connection ended after ${all.length} bytes: ${all.toString('latin1').slice(0, 100)}`);
    else await Promise.race([once(socket, 'readable'), once(socket, 'end'), once(socket, 'close')]);
  }
  return all;
}
