// Published ports as real clients use them: WebSocket, server-sent events, large bodies, servers that do not speak HTTP.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { after, before, test } from 'node:test';

import { connect } from './lib/client.mjs';
import { dial, readUntil } from './lib/ports.mjs';

let client;
before(async () => (client = await connect()));
after(() => client?.close());

const size = 50_000_000;
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

// Starts `code`, which listens on the port in PORT, in a session of its own; { port, url }.
async function start(t, code) {
  const session = await client.session(t);
  const { background } = await session.run(code, { listenOnPort: 0, timeoutMs: 10_000 });
  return background;
}

// Echoes the frames of a WebSocket (RFC 6455): text and binary ones of every length, in one fragment each.
const webSocketServer = `
  import http from 'node:http';
  import { createHash } from 'node:crypto';
  const server = http.createServer((_, answer) => answer.end('plain'));
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
    socket.write('HTTP/1.1 101 Switching Protocols\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
    const frame = (code, data) => {
      const head = Buffer.alloc(data.length < 126 ? 2 : data.length < 65536 ? 4 : 10);
      head[0] = 0x80 | code;
      head[1] = data.length < 126 ? data.length : data.length < 65536 ? 126 : 127;
      if (head.length === 4) head.writeUInt16BE(data.length, 2);
      if (head.length === 10) head.writeBigUInt64BE(BigInt(data.length), 2);
      return Buffer.concat([head, data]);
    };
    let got = Buffer.alloc(0);
    socket.on('error', () => {}).on('data', (bytes) => {
      got = Buffer.concat([got, bytes]);
      for (;;) {
        if (got.length < 2) return;
        const short = got[1] & 127;
        const at = short < 126 ? 2 : short === 126 ? 4 : 10;
        if (got.length < at + 4) return;
        const length = at === 2 ? short : at === 4 ? got.readUInt16BE(2) : Number(got.readBigUInt64BE(2));
        if (got.length < at + 4 + length) return;
        const mask = got.subarray(at, at + 4);
        const data = Buffer.from(got.subarray(at + 4, at + 4 + length)).map((byte, n) => byte ^ mask[n & 3]);
        const code = got[0] & 15;
        got = got.subarray(at + 4 + length);
        socket.write(frame(code, data));
        if (code === 8) return socket.end();
      }
    });
  });
  server.listen(process.env.PORT);`;

test('a WebSocket client exchanges messages of every length, and both sides close', async (t) => {
  const { port } = await start(t, webSocketServer);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  t.after(() => socket.close());
  socket.binaryType = 'arraybuffer';
  await once(socket, 'open');
  for (const text of ['hello', 'ä'.repeat(100), 'x'.repeat(70_000)]) {
    socket.send(text);
    const [{ data }] = await once(socket, 'message');
    assert.equal(data, text);
  }
  const bytes = randomBytes(1 << 20);
  socket.send(bytes);
  const [{ data }] = await once(socket, 'message');
  assert.equal(sha256(Buffer.from(data)), sha256(bytes));
  const closed = once(socket, 'close');
  socket.close(1000, 'done');
  const [{ code, reason, wasClean }] = await closed;
  assert.deepEqual([code, reason, wasClean], [1000, 'done', true]);
});

test('WebSockets and plain requests share a port', async (t) => {
  const { port, url } = await start(t, webSocketServer);
  const sockets = await Promise.all(Array.from({ length: 10 }, async () => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
    t.after(() => socket.close());
    await once(socket, 'open');
    return socket;
  }));
  assert.equal(await (await fetch(url)).text(), 'plain');
  const answers = sockets.map((socket) => once(socket, 'message'));
  sockets.forEach((socket, n) => socket.send(`${n}`));
  assert.deepEqual((await Promise.all(answers)).map(([{ data }]) => data), sockets.map((_, n) => `${n}`));
});

test('a client of server-sent events gets each when it is sent, and the server learns that it left', async (t) => {
  const { url } = await start(t, `import http from 'node:http'; const listeners = new Set();
    http.createServer((request, answer) => {
      if (request.url === '/send') {
        for (const listener of listeners) listener.write('event: news\\ndata: ' + request.headers.news + '\\n\\n');
        return answer.end(String(listeners.size));
      }
      if (request.url === '/left') return listeners.size === 0 ? answer.end() : [...listeners][0].on('close', () => answer.end());
      listeners.add(answer);
      answer.on('close', () => listeners.delete(answer)).writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    }).listen(process.env.PORT);`);
  const leave = new AbortController();
  const stream = await fetch(`${url}events`, { signal: leave.signal });
  const reader = stream.body.getReader();
  for (let n = 0; n < 20; n++) {
    assert.equal(await (await fetch(`${url}send`, { headers: { news: `${n}` } })).text(), '1');
    assert.equal(Buffer.from((await reader.read()).value).toString(), `event: news\ndata: ${n}\n\n`);
  }
  leave.abort();
  await (await fetch(`${url}left`)).text();
});

test('50 MB are uploaded and have the same checksum inside', async (t) => {
  const { url } = await start(t, `import http from 'node:http'; import { createHash } from 'node:crypto';
    http.createServer(async (request, answer) => {
      const hash = createHash('sha256'); let size = 0;
      for await (const part of request) { hash.update(part); size += part.length; }
      answer.end(size + ' ' + hash.digest('hex'));
    }).listen(process.env.PORT);`);
  const body = randomBytes(size);
  const answer = await fetch(url, { method: 'PUT', body });
  assert.equal(await answer.text(), `${size} ${sha256(body)}`);
});

test('50 MB are downloaded and have the same checksum outside', async (t) => {
  const { url } = await start(t, `import http from 'node:http'; import { createHash, randomBytes } from 'node:crypto';
    const body = randomBytes(${size}); const hash = createHash('sha256').update(body).digest('hex');
    http.createServer((_, answer) => answer.writeHead(200, { 'x-hash': hash }).end(body)).listen(process.env.PORT);`);
  const answer = await fetch(url);
  const body = Buffer.from(await answer.arrayBuffer());
  assert.equal(body.length, size);
  assert.equal(sha256(body), answer.headers.get('x-hash'));
});

test('a server that waits for its clients to speak first is ready as soon as it accepts', async (t) => {
  const { port } = await start(t, `import net from 'node:net';
    net.createServer((socket) => socket.on('error', () => {}).on('data', (bytes) => socket.write(Buffer.from(bytes).reverse()))).listen(process.env.PORT);`);
  const socket = await dial(t, port);
  socket.write(Buffer.from([0, 1, 2, 255]));
  assert.deepEqual([...(await readUntil(socket, (bytes) => bytes.length >= 4))], [255, 2, 1, 0]);
});

test('a server that never says a word is ready as soon as it accepts', async (t) => {
  const { port } = await start(t, "import net from 'node:net'; net.createServer((socket) => socket.on('error', () => {}).resume()).listen(process.env.PORT);");
  await dial(t, port);
});

test('a server that speaks first, and expects nothing bad, survives being looked at', async (t) => {
  // belljar connects to see whether it listens. One that just closed that connection would have it reset, and the server dies of it.
  const { port } = await start(t, `import net from 'node:net';
    net.createServer((socket) => { socket.write('x'.repeat(1 << 20)); socket.resume(); }).listen(process.env.PORT);`);
  const socket = await dial(t, port);
  socket.end();
  let size = 0;
  socket.on('data', (bytes) => (size += bytes.length));
  await once(socket, 'end');
  assert.equal(size, 1 << 20);
});
