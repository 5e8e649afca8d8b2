// MH: hostile clients, pages and neighbours of `belljar serve`.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterEach, before, after, test } from 'node:test';

import { call, message, modern, request, rpc, serve, tokenOf, tokens } from '../e2e/lib/http.mjs';
import { memory } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';

const [alice, bob] = [tokenOf('alice'), tokenOf('bob')];
const ends = [];
let server;
before(async () => {
  server = await serve({ after: (end) => ends.push(end) }, { toml: tokens('alice', 'bob') });
});
after(async () => {
  for (const end of ends.reverse()) await end();
});
afterEach(async () => {
  assert.equal((await within(5_000, 'the server answers', rpc(server, alice, 'tools/list'))).status, 200);
});

const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const bearer = (token) => ({ authorization: `Bearer ${token}` });

// Everything that comes back for these bytes until the server hangs up, or has said nothing for a while after an answer.
async function raw(bytes, { half = false } = {}) {
  const socket = connect(server.port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part) => { text += part; });
  socket.on('error', () => {});
  await once(socket, 'connect');
  if (half) socket.end(bytes);
  else socket.write(bytes);
  await within(20_000, 'an answer, or the end', Promise.race([once(socket, 'close'), until('an answer', () => text.includes('\r\n\r\n'), 20_000)]));
  socket.destroy();
  return text;
}
const statusOf = (text) => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
const head = (lines, body = '') => [...lines, '', body].join('\r\n');
const list = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });

test('MH01 MH02 a request for another name is refused before its body is read', async () => {
  const hosts = ['evil.com', 'localhost.evil.com', '127.0.0.1.nip.io', '127.0.0.1:80@evil', 'localhost.', 'evil.com:80', '[::ffff:127.0.0.1]', '0x7f.1', '2130706433', '127.1', '',
    'localhost:', 'localhost:x', 'localhost:80:80', 'localhost evil.com', 'localhost,evil.com', '127.0.0.1/', '[::1', '::1'];
  for (const host of hosts) {
    const answer = await raw(head(['POST /mcp HTTP/1.1', `Host: ${host}`, 'Content-Type: application/json', `Authorization: Bearer ${alice}`, 'Content-Length: 1000000']));
    assert.ok([400, 403].includes(statusOf(answer)), `${host}: ${answer}`); // though not a byte of the body was sent
  }
  assert.equal(statusOf(await raw(head(['GET /healthz HTTP/1.1']))), 400);
  assert.equal(statusOf(await raw(head(['GET /healthz HTTP/1.1', 'Host: localhost', 'Host: localhost']))), 400);
  for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1', '[::1]:5']) assert.equal(statusOf(await raw(head(['GET /healthz HTTP/1.1', `Host: ${host}`]))), 200, host);
});

test('MH04 what a page may send without asking is no request', async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain;application/json', 'application/jsonx', 'application/json-rpc', '']) {
    const answer = await request(server.url, { method: 'POST', headers: { ...json, 'content-type': type, ...bearer(alice) }, body: list });
    assert.equal(answer.status, 415, type);
  }
});

test('MH05 pages of other origins get neither an answer nor leave to ask', async () => {
  for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.com', 'https://127.0.0.1@evil.example', 'file://', 'http://']) {
    for (const method of ['OPTIONS', 'POST', 'GET']) {
      const answer = await request(server.url, { method, headers: { ...json, origin, 'access-control-request-method': 'POST', ...bearer(alice) }, body: method === 'POST' ? list : undefined });
      assert.equal(answer.status, 403, `${method} ${origin}`);
      assert.equal(answer.headers['access-control-allow-origin'], undefined);
    }
  }
});

test('NW17 a page that a sandbox serves may not ask, and gets no cookies', async () => {
  const { structuredContent: { container_id: id } } = await call(server, alice, 'sandbox_initialize');
  const code = "import http from 'node:http'; http.createServer((_, answer) => answer.end('page')).listen(3000);";
  const started = await call(server, alice, 'run_js', { container_id: id, code, listenOnPort: 3000 });
  assert.ok(!started.isError, started.text);
  const { url } = started.structuredContent.background;
  assert.equal((await request(url)).text, 'page');
  for (const origin of [new URL(url).origin, new URL(url).origin.replace('127.0.0.1', 'localhost'), new URL(server.url).origin.replace(/\d+$/, '1')]) {
    for (const headers of [{ ...json, ...bearer(alice) }, { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13', 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }]) {
      const answer = await request(server.url, { method: 'upgrade' in headers ? 'GET' : 'POST', headers: { ...headers, origin }, body: 'upgrade' in headers ? undefined : list });
      assert.equal(answer.status, 403, origin);
      assert.equal(answer.headers['set-cookie'], undefined);
    }
  }
  await call(server, alice, 'sandbox_stop', { container_id: id });
});

test('MH06 on loopback nobody else is listened to', async () => {
  const addresses = Object.values(networkInterfaces()).flat().filter(({ internal, family, address }) => !internal && !(family === 'IPv6' && address.startsWith('fe80'))).map(({ address }) => address);
  for (const address of addresses) {
    const socket = connect(server.port, address);
    const [error] = await Promise.race([once(socket, 'error'), once(socket, 'connect').then(() => ['connected'])]);
    socket.destroy();
    assert.equal(error.code, 'ECONNREFUSED', address);
  }
  const answer = await raw(head(['GET /healthz HTTP/1.1', 'Host: 0.0.0.0']));
  assert.equal(statusOf(answer), 403);
});

// A legacy session of this owner: its headers.
async function open(token, more = {}) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } } });
  const answer = await request(server.url, { method: 'POST', headers: { ...json, ...bearer(token), ...more }, body });
  return { ...json, ...bearer(token), 'mcp-session-id': answer.headers['mcp-session-id'], 'mcp-protocol-version': '2025-11-25' };
}

test('MH08 a session of another is one that never was', async () => {
  const session = await open(alice);
  for (const method of ['POST', 'GET', 'DELETE']) {
    const ask = (id) => request(server.url, { method, headers: { ...session, ...bearer(bob), 'mcp-session-id': id }, body: method === 'POST' ? list : undefined });
    const foreign = await ask(session['mcp-session-id']);
    const unknown = await ask('0'.repeat(session['mcp-session-id'].length));
    assert.deepEqual([foreign.status, foreign.text], [404, unknown.text], method);
  }
  assert.equal((await request(server.url, { method: 'POST', headers: session, body: list })).status, 200);
});

test('MH09 session ids are long, random, and never the client\'s', async () => {
  const ids = [];
  for (let i = 0; i < 20; ++i) ids.push((await open(alice))['mcp-session-id']);
  assert.equal(new Set(ids).size, 20);
  for (const id of ids) assert.match(id, /^[\w-]{22,}$/);
  const fixed = await open(alice, { 'mcp-session-id': 'chosen-by-me' });
  assert.notEqual(fixed['mcp-session-id'], 'chosen-by-me');
});

test('MH16 slow and idle connections delay nobody, and end', async (t) => {
  const sockets = Array.from({ length: 500 }, () => connect(server.port, '127.0.0.1').on('error', () => {}).resume());
  t.after(() => sockets.forEach((socket) => socket.destroy()));
  await Promise.all(sockets.map((socket) => once(socket, 'connect')));
  sockets.slice(0, 200).forEach((socket) => socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-A'));
  sockets.slice(200, 300).forEach((socket) => socket.write(head(['POST /mcp HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${alice}`, 'Content-Type: application/json', 'Content-Length: 1000'], '{')));
  const before_ = performance.now();
  assert.equal((await rpc(server, bob, 'tools/list')).status, 200);
  assert.ok(performance.now() - before_ < 5_000);
  assert.ok(memory(server.pid, 'VmRSS') < 300 << 20);
  await within(40_000, 'a head that never ends is given up', once(sockets[0], 'close'));
});

test('MH17 output of a program cannot forge an event', async () => {
  const evil = 'x\n\ndata: {"jsonrpc":"2.0","id":1,"result":{"forged":true}}\n\nevent: message\r\n\r\nid: 7\rdata: y\u2028';
  const session = await open(alice);
  const body = JSON.stringify({ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'run_js_ephemeral', arguments: { code: `console.log(${JSON.stringify(evil)})` } } });
  const answer = await request(server.url, { method: 'POST', headers: session, body });
  const { id, result } = message(answer);
  assert.equal(id, 5);
  assert.equal(result.structuredContent.stdout, `${evil}\n`);
  assert.ok(!/^data: \{"jsonrpc":"2.0","id":1/m.test(answer.text));
});

test('MH18 a stream is not resumed with an event id of somebody else, or a made-up one', async () => {
  const session = await open(alice);
  const own = await request(server.url, {
    method: 'POST', headers: session,
    body: JSON.stringify({ jsonrpc: '2.0', id: 6, method: 'tools/call', params: { name: 'run_js_ephemeral', arguments: { code: 'console.log("secret of alice")' } } }),
  });
  const event = /^id: ?(.*)$/m.exec(own.text)?.[1] ?? '1-0';
  const foreign = await open(bob);
  for (const id of [event, '0', '1_1', '-1', '9'.repeat(40), '../1', '%00', 'x'.repeat(5000)]) {
    const stop = new AbortController();
    const asked = request(server.url, { headers: { ...foreign, accept: 'text/event-stream', 'last-event-id': id }, signal: stop.signal }).catch(() => ({ text: '' }));
    const answer = await Promise.race([asked, rpc(server, bob, 'tools/list').then(() => undefined)]);
    stop.abort();
    assert.ok(!answer?.text.includes('secret of alice'), id);
  }
});

test('MH20 requests that two readers could read differently are refused, and the connection ends', async () => {
  const start = ['POST /mcp HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${alice}`, 'Content-Type: application/json'];
  const smuggled = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const attempts = {
    'both lengths': head([...start, `Content-Length: ${smuggled.length + 5}`, 'Transfer-Encoding: chunked'], `0\r\n\r\n${smuggled}`),
    'two lengths': head([...start, 'Content-Length: 4', `Content-Length: ${smuggled.length}`], smuggled),
    'a list of lengths': head([...start, 'Content-Length: 4, 4'], smuggled), 'a signed length': head([...start, 'Content-Length: +4'], smuggled),
    'chunked twice': head([...start, 'Transfer-Encoding: chunked, chunked'], `0\r\n\r\n${smuggled}`), 'an unknown coding': head([...start, 'Transfer-Encoding: xchunked'], `0\r\n\r\n${smuggled}`),
    'a folded line': head([...start, 'X-A: b', ' Content-Length: 4'], smuggled), 'bare line feeds': [...start, 'Content-Length: 4', '', smuggled].join('\n'),
    'a blank before the colon': head([...start, 'Content-Length : 4'], smuggled), 'a zero byte': head([...start, 'X-A: a\0b'], smuggled), 'a carriage return alone': head([...start, 'X-A: a\rContent-Length: 4'], smuggled),
    'a bad chunk': head([...start, 'Transfer-Encoding: chunked'], `-1\r\n\r\n${smuggled}`), 'no method': head([' /mcp HTTP/1.1', 'Host: localhost'], smuggled), 'another version': head(['POST /mcp HTTP/2.0', ...start.slice(1)], smuggled),
  };
  for (const [what, bytes] of Object.entries(attempts)) {
    const answer = await raw(bytes);
    assert.ok([0, 400, 501, 505].includes(statusOf(answer)), `${what}: ${answer}`);
    assert.ok(!answer.includes('alive'), `${what}: the second request was answered`);
  }
});

test('MH21 HTTP/2 is not spoken', async () => {
  assert.ok([0, 400, 505].includes(statusOf(await raw('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'))));
  const upgrade = await raw(head(['GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__']));
  assert.notEqual(statusOf(upgrade), 101);
});

test('MH22 requests sent ahead by the thousand wait their turn, outside of belljar, and are answered in order', async (t) => {
  const count = 10_000;
  const before_ = memory(server.pid, 'VmRSS');
  const ask = (id) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'server/discover', params: { _meta: { 'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientCapabilities': {} } } });
    return head(['POST /mcp HTTP/1.1', 'Host: localhost', `Authorization: Bearer ${bob}`, 'Content-Type: application/json', `Accept: ${json.accept}`, `MCP-Protocol-Version: ${modern}`,
      'Mcp-Method: server/discover', `Content-Length: ${body.length}`], body);
  };
  const socket = connect(server.port, '127.0.0.1').on('error', () => {});
  t.after(() => socket.destroy());
  await once(socket, 'connect');
  socket.pause();
  for (let id = 0; id < count; ++id) socket.write(ask(id));
  // Nothing is read, so belljar has to stop somewhere; others notice nothing.
  for (let i = 0; i < 20; ++i) assert.equal((await within(5_000, 'others are answered', rpc(server, alice, 'tools/list'))).status, 200);
  assert.ok(memory(server.pid, 'VmRSS') - before_ < 20 << 20, 'what was sent ahead is not kept');
  const ids = [];
  let rest = '';
  socket.setEncoding('utf8').on('data', (part) => {
    const pieces = (rest + part).split('HTTP/1.1 200 OK\r\n');
    rest = pieces.pop();
    for (const piece of pieces) if (piece) ids.push(Number(/"id":(\d+)/.exec(piece)[1]));
  });
  socket.resume();
  await until('the last answer', () => rest.includes(`"id":${count - 1},`), 120_000);
  assert.deepEqual(ids, Array.from({ length: count - 1 }, (_, id) => id));
  assert.ok(memory(server.pid, 'VmRSS') - before_ < 20 << 20, 'nothing of them is left');
});

test('MH22 a flood of calls is refused beyond the limits of its owner, and others do not wait for it', async (t) => {
  const [running, waiting, flood] = [2, 4, 200];
  const crowded = await serve(t, { toml: `owner-runs = ${running}\nowner-waiting = ${waiting}\n${tokens('alice', 'bob')}` });
  const metric = async (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec((await request(crowded.at('/metrics'), { headers: bearer(alice) })).text)[1]);
  const stop = new AbortController();
  t.after(() => stop.abort());
  const answers = [];
  const endless = { code: 'setInterval(() => {}, 1000)', timeoutMs: 120_000 };
  for (let i = 0; i < flood; ++i) call(crowded, bob, 'run_js_ephemeral', endless, { signal: stop.signal }).then((result) => answers.push(result), () => {});
  await until('all but the first to be refused', () => answers.length >= flood - running - waiting, 60_000);
  assert.deepEqual([await metric('belljar_runs'), await metric('belljar_waiting_runs')], [running, waiting]);
  for (const { isError, text } of answers) {
    assert.ok(isError);
    assert.match(text, /2 runs under way and 4 more waiting, which is the limit; try again/);
  }
  assert.match((await within(30_000, 'another owner has a turn', call(crowded, alice, 'run_js_ephemeral', { code: 'console.log(1)' }))).text, /output:\n1\n/);
  assert.equal(answers.length, flood - running - waiting);
  stop.abort();
  await until('the flood is over', async () => (await metric('belljar_runs')) + (await metric('belljar_waiting_runs')) + (await metric('belljar_live_sandboxes')) === 0, 30_000);
});

test('MH26 only exact paths lead anywhere', async () => {
  for (const path of ['/', '//mcp', '/mcp/', '/mcp/..;/', '/%2e%2e/mcp', '/./mcp', '/mcp%00', '/MCP', '/%6dcp', '/mcp;x', '/../etc/passwd', '/etc/passwd', '/.git/config', '*', '/metrics/', '/healthz/..', 'http://localhost/mcp/x']) {
    const answer = await raw(head([`POST ${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${alice}`, 'Content-Type: application/json', 'Content-Length: 0']));
    assert.ok([400, 404, 405].includes(statusOf(answer)), `${path}: ${answer}`);
    assert.ok(!answer.includes('root:'));
  }
});

test('MH29 metrics are for those with a token, and health tells nothing', async () => {
  for (const headers of [{}, bearer('x'.repeat(43)), { authorization: 'Basic YTpi' }]) assert.equal((await request(server.at('/metrics'), { headers })).status, 401);
  await call(server, alice, 'sandbox_list');
  const shown = await request(server.at('/metrics'), { headers: bearer(alice) });
  assert.equal(shown.status, 200);
  assert.ok(!/alice|bob|js-sbx/.test(shown.text));
  assert.equal((await request(server.at('/healthz'))).text, 'alive\n');
  for (const path of ['/debug', '/debug/pprof', '/status', '/server-status', '/env', '/config']) assert.equal((await request(server.at(path), { headers: bearer(alice) })).status, 404);
});
