// Everybody who lives in one network namespace of the lab: a program that lab.mjs starts there and speaks with in lines of
// JSON, { id, do, … } → { id, … }. The namespace lives as long as this does, and this as long as its stdin is open.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { createInterface } from 'node:readline';
import { pipeline } from 'node:stream/promises';

import { datagramSocket, NameServer } from './name_server.mjs';
import { parts, plain, SecureServers } from './secure_server.mjs';

const kept = 4096; // bytes of what a client sent, to look for secrets in
const names = new NameServer();
const secure = new SecureServers();
let connections = []; // [{ to, port, from, bytes, text, open, reset }], in the order in which they were accepted
let datagrams = []; // [{ to, port, text }]; `to` is "" if the address is none that has a name

function remember(socket) {
  const entry = { to: plain(socket.localAddress), port: socket.localPort, from: plain(socket.remoteAddress), bytes: 0, text: '', open: true, reset: false };
  connections.push(entry);
  socket.on('close', () => (entry.open = false));
  socket.on('error', ({ code }) => (entry.reset ||= code === 'ECONNRESET')); // clients go as they please
  socket.on('data', (bytes) => {
    entry.bytes += bytes.length;
    if (entry.text.length < kept) entry.text += bytes.toString('latin1', 0, kept);
  });
}

async function serveHttp(request, response) {
  const [, what, detail] = request.url.split('/');
  if (what === 'bytes') {
    await pipeline(parts(Number(detail)), response);
  } else if (what === 'sum') {
    const hash = createHash('sha256');
    for await (const bytes of request) hash.update(bytes);
    response.end(hash.digest('hex'));
  } else if (what === 'go') {
    response.writeHead(302, { location: decodeURIComponent(detail) }).end();
  } else {
    response.end(`${plain(request.socket.localAddress)} ${request.socket.localPort} ${request.headers.host}`);
  }
}

const services = {
  http: () => http.createServer((request, response) => serveHttp(request, response).catch(() => response.destroy())),
  echo: () => net.createServer({ allowHalfOpen: true }, (socket) => socket.pipe(socket)),
  greeter: () => net.createServer((socket) => socket.end(`you asked for ${plain(socket.localAddress)}`)),
  resetter: () => net.createServer((socket) => socket.once('data', () => socket.resetAndDestroy())),
  discard: () => net.createServer({ allowHalfOpen: true }, (socket) => {
    let bytes = 0;
    socket.on('data', (part) => (bytes += part.length)).on('end', () => socket.end(String(bytes)));
  }),
};

// Without an address the port is the path of a socket, which may be an abstract one.
async function listen(kind, address, port) {
  const server = services[kind]();
  // After the listener of HTTP, which else would read past us.
  server.on('connection', remember);
  // One address may have another server than the rest of the world on the same port.
  server.listen(address === undefined ? { path: port } : { port, host: address, reusePort: true });
  await once(server, 'listening');
}

// Answers every datagram with its own text, and says which address that was.
async function echoDatagrams(address, port) {
  const socket = datagramSocket(address);
  const anybody = address === '::' || address === '0.0.0.0';
  socket.on('message', (bytes, peer) => {
    datagrams.push({ to: anybody ? '' : address, port, text: bytes.toString('latin1', 0, kept) });
    socket.send(bytes, peer.port, peer.address, () => {});
  });
  socket.bind(port, address);
  await once(socket, 'listening');
}

const commands = {
  tcp: ({ kind, address, port }) => listen(kind, address, port),
  udp: ({ address, port }) => echoDatagrams(address, port),
  tls: ({ address, port, ...options }) => secure.listen(address, port, options),
  names: ({ address }) => names.listen(address),
  release: () => names.release(),
  log: () => ({ connections, datagrams, queries: names.queries, secure: secure.connections }),
  reset: () => {
    connections = [];
    datagrams = [];
    names.reset();
    secure.reset();
  },
};

const lines = createInterface({ input: process.stdin });
lines.on('line', async (line) => {
  const { id, do: what, ...rest } = JSON.parse(line);
  try {
    process.stdout.write(`${JSON.stringify({ id, ...(await commands[what](rest)) })}\n`);
  } catch (error) {
    process.stdout.write(`${JSON.stringify({ id, error: String(error) })}\n`);
  }
});
lines.on('close', () => process.exit(0));
process.stdout.on('error', () => process.exit(0));
process.stdout.write('{"id":0}\n');
