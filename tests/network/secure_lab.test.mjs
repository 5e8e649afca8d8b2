// The HTTPS servers of the lab and the ways to speak with them, without belljar: what the tests of secrets rely on.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { families, secure as places } from './lib/addresses.mjs';
import { getting, head, SecretsBench, valuesOf } from './lib/secrets_bench.mjs';

const bench = new SecretsBench();
let started;
before(() => (started = bench.startLab()));
after(async () => {
  await started; // when no test was asked for, node does not wait for `before`
  await bench.lab.stop();
});

// Runs `action` on the host with the authority that the operator trusts in `ca`.
async function onHost(action, data = {}) {
  await bench.lab.reset();
  return bench.onHost(action, { ca: bench.authority.pem, ...data });
}

for (const family of families) {
  test(`who trusts the authority believes the right servers only, ${family}`, async () => {
    const hosts = ['api.test', 'second.test', 'ordinary.test', 'stolen.test', 'mistaken.test', 'expired.test', 'old.test', 'resetting.test'];
    const seen = await onHost(({ ca, hosts, family }) => outcomes(Object.fromEntries(hosts.map((host) => [host, secure(host, { ca, family, rejectUnauthorized: true }).then(({ issuer, authorized }) => `${issuer} ${authorized}`, ({ message }) => message)]))), { hosts, family: family === 'v4' ? 4 : 6 });
    const { 'old.test': old, 'resetting.test': resetting, ...others } = seen;
    assert.deepEqual(others, {
      'api.test': 'authority true', 'second.test': 'authority true', 'ordinary.test': 'authority true',
      'stolen.test': 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'mistaken.test': 'ERR_TLS_CERT_ALTNAME_INVALID', 'expired.test': 'CERT_HAS_EXPIRED',
    });
    assert.match(old, /^ERR_SSL_/);
    assert.match(resetting, /^(ECONNRESET|closed)$/);
  });

  test(`a request is remembered as it came, ${family}`, async () => {
    const text = getting('/path?q=1', 'authorization: Bearer 1', 'X-MiXeD:  two  spaces ', 'AUTHORIZATION: again');
    const seen = await onHost(async ({ text, family }) => tell(text, { family }), { text, family: family === 'v4' ? 4 : 6 });
    assert.match(seen, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nX-Odd-Case: as {2}it is\r\n[^]*\r\n\r\nGET \/path\?q=1 was answered$/);
    const { secure: [connection] } = await bench.lab.log();
    assert.deepEqual([connection.to, connection.port, connection.serverName, connection.text], [places.api[family], 443, 'api.test', text]);
    assert.deepEqual(connection.requests, [{
      method: 'GET', target: '/path?q=1', version: '1.1', headers: [['Host', 'api.test'], ['authorization', 'Bearer 1'], ['X-MiXeD', 'two  spaces'], ['AUTHORIZATION', 'again'], ['Connection', 'close']],
      body: '', size: 0, sum: createHash('sha256').digest('hex'), trailers: [], complete: true,
    }]);
    assert.deepEqual(valuesOf(connection.requests[0], 'Authorization'), ['Bearer 1', 'again']);
  });

  test(`echo, greeter, discard and resetter have port 443 of an address, ${family}`, async () => {
    const seen = await onHost(({ echo, greeter, discard, resetter }) => outcomes({ echo: ask(echo, 443, 'as it came'), greeter: ask(greeter, 443), discard: ask(discard, 443, '12345'), resetter: ask(resetter, 443, 'x') }), Object.fromEntries(Object.entries(places).map(([who, address]) => [who, address[family]])));
    assert.deepEqual(seen, { echo: 'as it came', greeter: `you asked for ${places.greeter[family]}`, discard: '5', resetter: 'ECONNRESET' });
  });
}

test('bodies and trailers are remembered, with a length and in chunks', async () => {
  const chunked = head('POST /sum HTTP/1.1', 'Host: api.test', 'Transfer-Encoding: chunked', 'Connection: close') + head('5', 'hello', '6', ' there', '0', 'X-Trailer: t');
  const seen = await onHost(async ({ ca, chunked }) => [await request('https://api.test/sum', { ca, method: 'POST', body: 'hello there' }), await tell(chunked), await request('https://api.test/bytes/3000000', { ca }).then(({ body }) => body.length), await request('https://api.test/sized/3000000', { ca }).then(({ headers }) => headers['content-length'])], { chunked });
  const sum = createHash('sha256').update('hello there').digest('hex');
  assert.equal(seen[0].body, sum);
  assert.ok(seen[1].includes(sum));
  assert.deepEqual(seen.slice(2), [3_000_000, '3000000']);
  const [first, second] = (await bench.requests()).filter(({ target }) => target === '/sum');
  assert.deepEqual([first, second].map(({ body, size, trailers, complete }) => [body, size, trailers, complete]), [['hello there', 11, [], true], ['hello there', 11, [['X-Trailer', 't']], true]]);
});

test('a WebSocket says what it hears, and other wishes for another protocol are remembered', async () => {
  const upgrade = head('GET /elsewhere HTTP/1.1', 'Host: api.test', 'Connection: Upgrade', 'Upgrade: websocket');
  const seen = await onHost(async ({ upgrade }) => {
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const echo = await new Promise((resolve) => {
      const socket = new WebSocket('wss://api.test/socket', { headers: { authorization: 'Bearer 1' } });
      socket.onopen = () => socket.send('a message');
      socket.onmessage = ({ data }) => resolve(data);
      socket.onerror = ({ message }) => resolve(message);
    });
    const talk = await secure('api.test');
    await talk.say(upgrade).until(/no upgrade/);
    await talk.say('and more').all();
    return echo;
  }, { upgrade });
  assert.equal(seen, 'a message');
  const [socket, other] = await bench.requests();
  assert.deepEqual([socket.target, valuesOf(socket, 'authorization'), other.target], ['/socket', ['Bearer 1'], '/elsewhere']);
  assert.ok((await bench.said()).endsWith(`${upgrade}and more`));
});

test('events come one by one, as somebody else asks for them', async () => {
  const seen = await onHost(async () => {
    const talk = await secure('api.test');
    talk.say('GET /events HTTP/1.1\r\nHost: api.test\r\n\r\n');
    await talk.until(/data: first\n\n/);
    const next = (name) => tell(`GET /event/${name} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`);
    await next('second');
    await talk.until(/data: second\n\n/);
    await next('last');
    return talk.until(/\r\n0\r\n\r\n$/);
  });
  assert.match(seen, /text\/event-stream/);
});

describe('a ClientHello', () => {
  test('may come byte by byte, in records of any size, or all at once', async () => {
    const seen = await onHost(async () => {
      const cuts = { bytes: everyByte, one: inRecords(1), few: inRecords(60), pieces: (bytes) => inRecords(100)(bytes).flatMap(everyByte) };
      return outcomes(Object.fromEntries(Object.entries(cuts).map(([name, cut]) => [name, inPieces('api.test', cut).then((socket) => tell(`GET /cut-${name} HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n`, { socket, servername: 'api.test' }))])));
    });
    for (const [name, answer] of Object.entries(seen)) assert.match(answer, new RegExp(`GET /cut-${name} was answered$`), name);
    assert.deepEqual(new Set((await bench.requests()).map(({ serverName }) => serverName)), new Set(['api.test']));
  });

  test('may have no name, and may ask for another protocol', async () => {
    const seen = await onHost(async () => {
      const [nameless, h2] = [await secure('api.test', { servername: '' }), await secure('api.test', { ALPNProtocols: ['h2'] })];
      await nameless.say('GET /nameless HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n').all();
      return [nameless.issuer, h2.leave().protocol];
    });
    assert.deepEqual(seen, ['authority', 'h2']);
    assert.equal((await bench.requests())[0].serverName, '');
  });
});
