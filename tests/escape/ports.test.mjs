// NW04, NW05, NW06, NW16, NW18: published ports under attack from both sides, and which ports a sandbox reaches.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { closed, freePort, readUntil, tryToConnect } from '../e2e/lib/ports.mjs';
import { memory } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { openJar } from './lib/jar.mjs';

const jar = openJar();
const descriptors = () => readdirSync(`/proc/${jar.server.pid}/fd`).length;

// Publishes a program with the name `port` that serves; the port.
async function serve(t, code) {
  const port = await freePort();
  const container_id = await jar.session(t);
  const text = `import net from 'node:net'; const port = ${port};\n${code}`;
  const result = await jar.server.call('run_js', { container_id, code: text, listenOnPort: port });
  assert.equal(result.isError ?? false, false, result.text);
  return port;
}
const echo = "net.createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(port);";

// `count` connections, some of which the server may close again.
function dialMany(t, port, count) {
  const sockets = Array.from({ length: count }, () => connect(port, '127.0.0.1').on('error', () => {}));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  return sockets;
}
// One connection that gets its own bytes back, tried until there is room.
const answers = (port) =>
  until('a connection to be served', async () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write('ping');
    const back = await readUntil(socket, (bytes) => bytes.length >= 4).catch(() => '');
    socket.destroy();
    return String(back) === 'ping';
  });
const othersAreServed = async () => assert.equal(await within(5_000, 'an answer to another call', jar.inside(() => 'served')), 'served');

test('NW16 more connections than are served are closed at once, and later ones are served', async (t) => {
  const port = await serve(t, echo);
  const sockets = dialMany(t, port, 1000);
  let closed = 0;
  for (const socket of sockets) socket.resume().on('close', () => closed++);
  await until('most connections to be closed', () => closed >= 1000 - 256);
  assert.ok(descriptors() < 2500, `${descriptors()} descriptors`);
  await othersAreServed();
  for (const socket of sockets) socket.destroy();
  await answers(port);
});

test('NW16 the first connection too many is refused, those before it are served, and one that ends makes room', async (t) => {
  const port = await serve(t, echo);
  const ping = async (socket) => {
    socket.write('ping');
    assert.equal(String(await readUntil(socket, (bytes) => bytes.length >= 4)), 'ping');
  };
  const sockets = dialMany(t, port, 256);
  for (const socket of sockets) await ping(socket);
  const [last] = dialMany(t, port, 1);
  await closed(last);
  for (const socket of sockets) await ping(socket);
  sockets[100].destroy();
  await answers(port);
});

test('NW16 connections that come and go leave nothing behind', async (t) => {
  const port = await serve(t, echo);
  await answers(port);
  const before = descriptors();
  for (let round = 0; round < 20; round++) {
    const sockets = dialMany(t, port, 100);
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    for (const socket of sockets) round % 2 ? socket.resetAndDestroy() : socket.destroy();
  }
  await until('the descriptors to be closed', () => descriptors() <= before + 6);
  await answers(port);
});

test('NW16 connections that say nothing hold up nobody', async (t) => {
  const port = await serve(t, echo);
  const silent = dialMany(t, port, 200);
  await Promise.all(silent.map((socket) => once(socket, 'connect')));
  await answers(port);
  await othersAreServed();
});

test('NW16 connections that are closed in one direction only are served until the other ends', async (t) => {
  const port = await serve(t, "net.createServer({ allowHalfOpen: true }, (socket) => socket.on('error', () => {}).on('data', (bytes) => socket.write(bytes))).listen(port);");
  const sockets = Array.from({ length: 50 }, () => connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {}));
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  for (const socket of sockets) socket.end('half');
  for (const socket of sockets) assert.equal(String(await readUntil(socket, (bytes) => bytes.length >= 4)), 'half');
  await answers(port);
});

test('NW16 a reader that does not read costs no memory of the server', async (t) => {
  const port = await serve(t, `const block = Buffer.alloc(1 << 20);
    net.createServer((socket) => { const more = () => { while (socket.write(block)); }; socket.on('drain', more).on('error', () => {}); more(); }).listen(port);`);
  const before = memory(jar.server.pid, 'VmRSS');
  const slow = dialMany(t, port, 30);
  for (const socket of slow) await until('its first bytes', () => socket.readableLength > 0);
  await othersAreServed();
  assert.ok(memory(jar.server.pid, 'VmRSS') < before + (64 << 20), 'less than 64 MiB more');
});

test('NW16 readers that do not read hold up no other connection to the same server', async (t) => {
  const port = await serve(t, `const block = Buffer.alloc(1 << 20);
    net.createServer((socket) => socket.on('error', () => {}).once('data', (bytes) => {
      if (String(bytes) === 'ping') return socket.write(bytes);
      const more = () => { while (socket.write(block)); };
      socket.on('drain', more);
      more();
    })).listen(port);`);
  const slow = dialMany(t, port, 30);
  for (const socket of slow) socket.write('flood');
  for (const socket of slow) await until('its first bytes', () => socket.readableLength > 0);
  for (let n = 0; n < 20; n++) await answers(port);
});

test('NW18 a port that belljar chose is refused from the moment its sandbox is gone', async (t) => {
  const container_id = await jar.session(t);
  const code = `import net from 'node:net'; ${echo.replace('port', 'process.env.PORT')}`;
  const { background } = await jar.server.call('run_js', { container_id, code, listenOnPort: 0 });
  const [held] = dialMany(t, background.port, 1);
  held.write('ping');
  await readUntil(held, (bytes) => bytes.length >= 4);
  const ended = closed(held);
  await jar.server.call('sandbox_stop', { container_id });
  assert.equal(await tryToConnect(background.port, '127.0.0.1'), 'ECONNREFUSED');
  await ended;
});

test('NW16 a server inside that accepts nothing any more holds up nobody else', async (t) => {
  const port = await serve(t, 'net.createServer().listen(port, () => { for (;;); });');
  dialMany(t, port, 300);
  await othersAreServed();
  await answers(await serve(t, echo));
});

test('NW16 a server inside that resets every connection does no harm', async (t) => {
  const port = await serve(t, 'net.createServer((socket) => socket.resetAndDestroy()).listen(port);');
  const sockets = dialMany(t, port, 100);
  await within(10_000, 'all connections to end', Promise.all(sockets.map((socket) => new Promise((resolve) => socket.resume().on('close', resolve)))));
  await othersAreServed();
});

test('NW04 a sandbox with a published port reaches no port of the host', async (t) => {
  const listener = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  t.after(() => listener.close());
  const port = await freePort();
  const session = await jar.session(t, { port });
  const seen = await jar.inside(async (ports) => {
    const dial = (port, host) => new Promise((resolve) => net.connect(port, host).on('connect', () => resolve('connected')).on('error', ({ code }) => resolve(code)));
    return Promise.all(ports.flatMap((port) => ['127.0.0.1', '127.0.0.2', '::1', '::ffff:127.0.0.1'].map((host) => dial(port, host))));
  }, { data: [listener.address().port, port], in: session });
  assert.deepEqual([...new Set(seen)].filter((outcome) => outcome === 'connected'), []);
});

test('NW05 NW06 a listener in one sandbox does not exist in another', async (t) => {
  const port = await serve(t, `${echo} net.createServer().listen('\\0published');`);
  const seen = await jar.inside(async (port) => {
    const dial = (...where) => new Promise((resolve) => net.connect(...where).on('connect', () => resolve('connected')).on('error', ({ code }) => resolve(code)));
    return [await dial(port, '127.0.0.1'), await dial(port, '::1'), await dial('\0published')];
  }, { data: port, in: await jar.session(t) });
  assert.ok(!seen.includes('connected'), seen.join());
});
