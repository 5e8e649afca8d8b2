// Previews: what listens in a sandbox of `belljar serve`, as a browser sees it through the second listener.
import assert from 'node:assert/strict';
import http from 'node:http';
import { describe, test } from 'node:test';

import { call, request, rpc, serve, tokenOf, tokens } from './lib/http.mjs';

const alice = tokenOf('alice');
const bob = tokenOf('bob');

const program = `
import http from 'node:http';
import { createHash } from 'node:crypto';
const server = http.createServer((request, response) => {
  if (request.url === '/events') {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: first\\n\\n');
    return;
  }
  if (request.url === '/away') return response.writeHead(302, { location: '/login' }).end();
  let body = '';
  request.on('data', (part) => { body += part; });
  request.on('end', () => {
    response.setHeader('set-cookie', ['theirs=1; Path=/', 'belljar-preview=mine; Path=/']);
    response.setHeader('service-worker-allowed', '/');
    response.end(JSON.stringify({ method: request.method, url: request.url, headers: request.headers, body }));
  });
});
server.on('upgrade', (request, socket) => {
  const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
  socket.write('HTTP/1.1 101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket\\r\\nSec-WebSocket-Accept: ' + accept + '\\r\\n\\r\\n');
  socket.on('data', (frame) => { // an unmasked echo of one short masked frame
    const length = frame[1] & 0x7f;
    const text = frame.subarray(6, 6 + length).map((byte, at) => byte ^ frame[2 + (at % 4)]);
    socket.write(Buffer.concat([Buffer.from([0x81, length]), text]));
  });
});
server.listen(process.env.PORT);
`;

async function preview(server, token = alice) {
  const id = (await call(server, token, 'sandbox_initialize')).text;
  const { structuredContent } = await call(server, token, 'run_js', { container_id: id, code: program, listenOnPort: 0 });
  const link = new URL(structuredContent.background.preview);
  const welcome = await request(link.href);
  assert.equal(welcome.status, 303, welcome.text);
  const cookie = welcome.headers['set-cookie'][0].split(';')[0];
  return { id, link, cookie, origin: link.origin, prefix: link.pathname, at: (path) => `${link.origin}${link.pathname}${path}` };
}

describe('previews', () => {
  test('have an origin of their own, and a link that becomes a cookie', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    const { link, cookie, at, prefix, origin } = await preview(server);
    assert.notEqual(link.port, String(server.port));
    assert.match(prefix, /^\/preview\/js-sbx-[0-9a-f-]+\/\d+\/$/);
    const seen = await request(at('a/b?c=d'), { method: 'POST', body: 'hello', headers: { cookie: `${cookie}; theirs=2`, origin } });
    assert.equal(seen.status, 200, seen.text);
    const inner = JSON.parse(seen.text);
    assert.deepEqual([inner.method, inner.url, inner.body, inner.headers.cookie], ['POST', '/a/b?c=d', 'hello', 'theirs=2']);
    assert.equal(inner.headers['x-forwarded-prefix'], prefix.slice(0, -1));
    assert.deepEqual(seen.headers['set-cookie'], [`theirs=1; Path=${prefix}`]);
    assert.equal(seen.headers['service-worker-allowed'], undefined);
    assert.equal((await request(at('away'), { headers: { cookie } })).headers.location, `${prefix}login`);
  });

  test('show nothing to whoever has no link, or that of another sandbox or owner', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob') });
    const [own, other] = [await preview(server), await preview(server, bob)];
    const texts = [];
    for (const headers of [{}, { cookie: other.cookie }, { authorization: `Bearer ${alice}` }, { cookie: own.cookie.replace(/.$/, 'x') }]) {
      const { status, text } = await request(own.at(''), { headers });
      assert.equal(status, 401);
      texts.push(text);
    }
    assert.equal(new Set(texts).size, 1);
    assert.equal((await request(own.at(''), { headers: { cookie: own.cookie, origin: server.url.replace('/mcp', '') } })).status, 403);
    assert.equal((await request(own.at(''), { headers: { cookie: own.cookie, host: 'evil.example' } })).status, 403);
  });

  test('pass events as they come', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    const { at, cookie } = await preview(server);
    const first = await new Promise((resolve, reject) => {
      const sent = http.get(at('events'), { headers: { cookie }, agent: false }, (response) => response.once('data', (part) => { resolve(String(part)); sent.destroy(); }));
      sent.on('error', reject);
    });
    assert.equal(first, 'data: first\n\n');
  });

  test('carry WebSockets', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    const { link, cookie, prefix } = await preview(server);
    const echoed = await new Promise((resolve, reject) => {
      const sent = http.request({ host: '127.0.0.1', port: link.port, path: `${prefix}socket`, agent: false,
        headers: { cookie, connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' } });
      sent.on('upgrade', (response, socket) => {
        assert.equal(response.headers['sec-websocket-accept'], 's3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
        socket.once('data', (frame) => { resolve(frame.subarray(2).toString()); socket.destroy(); });
        socket.write(Buffer.from([0x81, 0x85, 1, 2, 3, 4, ...Buffer.from('hello').map((byte, at) => byte ^ [1, 2, 3, 4][at % 4])]));
      });
      sent.on('response', (response) => reject(new Error(`no upgrade: ${response.statusCode}`)));
      sent.on('error', reject);
      sent.end();
    });
    assert.equal(echoed, 'hello');
  });

  test('end with the sandbox', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    const { id, at, cookie } = await preview(server);
    await call(server, alice, 'sandbox_stop', { container_id: id });
    const { status, text } = await request(at(''), { headers: { cookie } });
    assert.equal(status, 404);
    assert.match(text, /has ended/);
  });

  test('are not offered where there are none', async (t) => {
    const server = await serve(t, { toml: tokens('alice'), args: ['--preview-listen', 'none'] });
    const id = (await call(server, alice, 'sandbox_initialize')).text;
    const { structuredContent } = await call(server, alice, 'run_js', { container_id: id, code: program, listenOnPort: 0 });
    assert.equal(structuredContent.background.preview, undefined);
  });
});

test('calls use one connection one after the other', async (t) => {
  const server = await serve(t, { toml: tokens('alice') });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  for (const number of [1, 2, 3]) {
    const result = await call(server, alice, 'run_js_ephemeral', { code: `console.log('call ${number}')` }, { agent });
    assert.match(result.text, new RegExp(`call ${number}`));
  }
  assert.equal((await rpc(server, alice, 'tools/list', {}, { agent })).status, 200);
});
