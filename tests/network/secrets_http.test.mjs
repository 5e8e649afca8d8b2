// HTTP on connections that carry a secret: what passes does so as without belljar, and what is not proper HTTP is refused.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { openBench } from './lib/bench.mjs';
import { bearer, getting, head, own, placeholder, SecretsBench, valuesOf } from './lib/secrets_bench.mjs';

const bench = openBench(new SecretsBench());
const token = placeholder('github');
const line = bearer(token);
const lasting = (target, ...lines) => head(`GET ${target} HTTP/1.1`, 'Host: api.test', ...lines);
const allHaveTheSecret = (requests) => assert.deepEqual(new Set(requests.map((request) => valuesOf(request, 'Authorization').join())), new Set([`Bearer ${bench.values.github}`]));

describe('on one connection', () => {
  test('requests follow each other, also after answers without a body', async () => {
    const texts = [lasting('/one', line), head('HEAD /two HTTP/1.1', 'Host: api.test', line), lasting('/status/204', line), lasting('/status/304', line), head('OPTIONS * HTTP/1.1', 'Host: api.test', line), getting('/last', line)];
    const { seen } = await bench.inside(async (texts) => {
      const talk = await secure('api.test');
      const heard = [];
      for (const text of texts) {
        const before = talk.heard.length;
        talk.say(text);
        await talk.until(new RegExp(`^[^]{${before}}HTTP[^]*\\r\\n\\r\\n${/^(HEAD|GET .status)/.test(text) ? '' : '[^]*answered'}`));
        heard.push(talk.heard.slice(before));
      }
      return [heard, await talk.all() === heard.join('')];
    }, { data: texts });
    const [heard, complete] = seen;
    assert.deepEqual(heard.map((answer) => answer.slice(0, 12)), ['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 204', 'HTTP/1.1 304', 'HTTP/1.1 200', 'HTTP/1.1 200']);
    assert.match(heard[1], /\r\ncontent-length: 22\r\n[^]*\r\n\r\n$/);
    assert.match(heard[5], /GET \/last was answered$/);
    assert.ok(complete);
    const { secure: connections } = await bench.lab.log();
    assert.deepEqual(connections.map(({ requests }) => requests.map(({ method, target }) => `${method} ${target}`)), [['GET /one', 'HEAD /two', 'GET /status/204', 'GET /status/304', 'OPTIONS *', 'GET /last']]);
    allHaveTheSecret(await bench.requests());
  });

  test('requests may be sent before their answers come, which come in order', async () => {
    const posts = Array.from({ length: 10 }, (_, n) => head(`POST /post-${n} HTTP/1.1`, 'Host: api.test', line, ...(n % 2 ? ['Content-Length: 4'] : ['Transfer-Encoding: chunked'])) + (n % 2 ? 'body' : head('4', 'body', '0')));
    const answer = await bench.tell([lasting('/first', line), ...posts, getting('/last', line)].join(''));
    assert.deepEqual(answer.match(/\w+ \S+ was answered/g), ['GET /first', ...posts.map((_, n) => `POST /post-${n}`), 'GET /last'].map((one) => `${one} was answered`));
    const requests = await bench.requests();
    assert.equal(requests.length, 12);
    assert.ok(requests.every(({ method, body }) => body === (method === 'POST' ? 'body' : '')));
    allHaveTheSecret(requests);
  });

  test('a request may come byte by byte', async () => {
    const texts = [lasting('/slow', line, 'X-Other: 1'), head('POST /slow HTTP/1.1', 'Host: api.test', 'Transfer-Encoding: chunked', line, 'Connection: close') + head('5', 'hello', '0')];
    const { seen } = await bench.inside(async (texts) => {
      const talk = await secure('api.test');
      for (const text of texts) await talk.spell(text);
      return talk.all();
    }, { data: texts });
    assert.deepEqual(seen.match(/\w+ \/slow was answered/g), ['GET /slow was answered', 'POST /slow was answered']);
    const requests = await bench.requests();
    assert.deepEqual(requests.map(({ body }) => body), ['', 'hello']);
    allHaveTheSecret(requests);
  });

  test('HTTP/1.0 is spoken, too', async () => {
    assert.match(await bench.tell(head('GET /old HTTP/1.0', 'Host: api.test', line)), /GET \/old was answered$/);
    allHaveTheSecret(await bench.requests());
  });

  test('a head of 50 000 bytes is no problem', async () => {
    assert.match(await bench.tell(getting('/long', line, `X-Long: ${'x'.repeat(50_000)}`)), /GET \/long was answered$/);
    assert.equal(valuesOf((await bench.requests())[0], 'X-Long')[0].length, 50_000);
  });
});

describe('a body', () => {
  const size = 5_000_000;
  const content = Buffer.alloc(size, 'some text with belljar-secret-github in it ');
  const sum = createHash('sha256').update(content).digest('hex');

  test('of 5 MB goes up with a length and in chunks', async () => {
    const { seen } = await bench.inside(async ({ size, token }) => {
      const body = Buffer.alloc(size, 'some text with belljar-secret-github in it ');
      const headers = { authorization: `Bearer ${token}` };
      const length = await request('https://api.test/sum', { method: 'POST', headers: { ...headers, 'content-length': size }, body });
      const chunked = await request('https://api.test/sum', { method: 'PUT', headers, body: (sent) => {
        for (let at = 0; at < size; at += 70_001) sent.write(body.subarray(at, at + 70_001));
        sent.end();
      } });
      return [length.body, chunked.body];
    }, { data: { size, token } });
    assert.deepEqual(seen, [sum, sum]);
    const requests = await bench.requests();
    assert.deepEqual(requests.map(({ method, size, complete }) => [method, size, complete]), [['POST', size, true], ['PUT', size, true]]);
    allHaveTheSecret(requests);
  });

  test('of 5 MB comes down with a length and in chunks', async () => {
    const { seen } = await bench.inside(async ({ size, token }) => {
      const headers = { authorization: `Bearer ${token}` };
      const [sized, chunked] = [await request(`https://api.test/sized/${size}`, { headers }), await request(`https://api.test/bytes/${size}`, { headers })];
      return [sized, chunked].map(({ headers, body }) => [headers['content-length'] ?? headers['transfer-encoding'], body === 'x'.repeat(size)]);
    }, { data: { size, token } });
    assert.deepEqual(seen, [[String(size), true], ['chunked', true]]);
  });

  test('is sent when the host asks for it', async () => {
    const { seen } = await bench.inside((token) => request('https://api.test/sum', { method: 'POST', headers: { authorization: `Bearer ${token}`, expect: '100-continue' }, body: (sent) => {
      sent.flushHeaders();
      sent.on('continue', () => sent.end('after the host has said so'));
    } }), { data: token });
    assert.equal(seen.body, createHash('sha256').update('after the host has said so').digest('hex'));
    allHaveTheSecret(await bench.requests());
  });

  test('that looks like a request is a body', async () => {
    const hidden = getting('/hidden', bearer(own));
    const answer = await bench.tell(head('POST /outer HTTP/1.1', 'Host: api.test', line, `Content-Length: ${hidden.length}`) + hidden + head('POST /second HTTP/1.1', 'Host: api.test', 'Transfer-Encoding: chunked', 'Connection: close') + head(hidden.length.toString(16), hidden, '0'));
    assert.match(answer, /POST \/second was answered$/);
    assert.deepEqual((await bench.requests()).map(({ target, body }) => [target, body]), [['/outer', hidden], ['/second', hidden]]);
  });

  test('has chunks of any size, and its trailers are dropped', async () => {
    const answer = await bench.tell(head('POST /sum HTTP/1.1', 'Host: api.test', 'Trailer: X-Trailer', 'tRANSFER-eNCODING: Chunked', line, 'Connection: close') + head('1;extension=1', 'a', '00000002', 'bc', 'A', '0123456789', '0', `X-Trailer: ${token}`, `Authorization: ${own}`, bearer(token)));
    assert.match(answer, /^HTTP\/1\.1 200/);
    const [request] = await bench.requests();
    assert.deepEqual([request.body, request.trailers, request.complete], ['abc0123456789', [], true]);
    assert.deepEqual(valuesOf(request, 'Authorization'), [`Bearer ${bench.values.github}`]);
    assert.ok(!(await bench.said()).includes(own));
  });

  test('that ends early ends the request, as incomplete as it was', async () => {
    await bench.inside(async (text) => {
      const talk = await secure('api.test');
      talk.say(text);
      await tell('GET /meanwhile HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n');
      talk.leave();
    }, { data: `${head('POST /cut HTTP/1.1', 'Host: api.test', 'Content-Length: 100')}some` });
    await until('all connections to end', async () => (await bench.lab.log()).secure.every(({ open }) => !open));
    assert.deepEqual((await bench.requests()).filter(({ target, complete }) => target === '/cut' && complete), []);
  });
});

describe('an answer', () => {
  test('that never seems to end comes as it is said: events', async () => {
    const { seen } = await bench.inside(async ({ stream, token }) => {
      const talk = await secure('api.test');
      talk.say(stream);
      await talk.until(/data: first\n\n/);
      for (const name of ['second', 'third']) {
        await request(`https://api.test/event/${name}`, { headers: { authorization: `Bearer ${token}` } });
        await talk.until(new RegExp(`data: ${name}\n\n`));
      }
      await request('https://api.test/event/last');
      return talk.all();
    }, { data: { stream: getting('/events', line), token } });
    assert.deepEqual(seen.match(/data: \w+/g), ['data: first', 'data: second', 'data: third']);
  });

  test('is for the one who asked, among many at once over few connections', async () => {
    const { seen } = await bench.inside(async (token) => {
      const agent = new https.Agent({ keepAlive: true, maxSockets: 16 });
      const all = await Promise.all(Array.from({ length: 400 }, (_, n) => request(`https://api.test/parallel-${n}`, { agent, method: n % 3 ? 'GET' : 'POST', headers: { authorization: `Bearer ${token}` }, body: n % 3 ? undefined : `body ${n}` })));
      return all.map(({ body, error }) => body ?? error);
    }, { data: token });
    assert.deepEqual(seen, Array.from({ length: 400 }, (_, n) => `${n % 3 ? 'GET' : 'POST'} /parallel-${n} was answered`));
    const requests = await bench.requests();
    assert.equal(new Set(requests.map(({ target }) => target)).size, 400);
    assert.ok(requests.every(({ target, method, body }) => body === (method === 'POST' ? `body ${target.split('-')[1]}` : '')));
    allHaveTheSecret(requests);
  });
});

describe('a WebSocket', () => {
  test('gets the secret with its first request, and then speaks', async () => {
    const { seen } = await bench.inside((token) => new Promise((resolve) => {
      const socket = new WebSocket('wss://api.test/socket', { headers: { authorization: `Bearer ${token}` } });
      const heard = [];
      socket.onopen = () => socket.send(`one ${token}`);
      socket.onmessage = ({ data }) => heard.push(data) < 2 ? socket.send('two') : resolve(heard);
      socket.onerror = ({ message }) => resolve(message);
    }), { data: token });
    assert.deepEqual(seen, [`one ${token}`, 'two']);
    const requests = await bench.requests();
    assert.equal(requests.length, 1);
    allHaveTheSecret(requests);
  });

  test('may not bring credentials of the program', async () => {
    const { seen } = await bench.inside(async (text) => {
      const talk = await secure('api.test');
      return talk.say(text).until(/\r\n\r\n/);
    }, { data: head('GET /socket HTTP/1.1', 'Host: api.test', 'Connection: Upgrade', 'Upgrade: WebSocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', bearer(own)) });
    assert.match(seen, /^HTTP\/1\.1 101 /);
    assert.ok(!(await bench.said()).includes(own));
  });
});

describe('refused, with nothing of it at the host:', () => {
  const requestLine = (text) => head(text, 'Host: api.test', line);
  const with_ = (...lines) => head('POST / HTTP/1.1', 'Host: api.test', line, ...lines);
  const named = (texts, make) => Object.fromEntries(texts.map((text) => [JSON.stringify(text), make(text)]));

  test('a Host that is missing, repeated or another one', async () => {
    const others = ['other.test', 'second.test', 'stolen.test', 'api.test.other.test', 'xapi.test', 'api.test:8443', 'api.test:80', 'api.test@other.test', 'other.test@api.test', 'api.test,other.test', 'api.test/', '[::1]', '', 'api.test:', 'api.test:0443:1'];
    await bench.refuses('421|400', { ...named(others.slice(9), (host) => head('GET / HTTP/1.1', `Host: ${host}`, line)) });
    await bench.refuses(421, {
      missing: head('GET / HTTP/1.1', line), 'missing in HTTP/1.0': head('GET / HTTP/1.0', line),
      'the same twice': head('GET / HTTP/1.1', 'Host: api.test', line, 'Host: api.test'), 'another one after it': head('GET / HTTP/1.1', 'Host: api.test', line, 'host: other.test'), 'another one before it': head('GET / HTTP/1.1', 'HOST: other.test', 'Host: api.test', line),
      ...named(others.slice(0, 9), (host) => head('GET / HTTP/1.1', `Host: ${host}`, line)),
    });
  });

  test('a target that is no path', async () => {
    await bench.refuses(400, named(['https://api.test/', 'https://other.test/', 'http://api.test/', 'api.test:443', '*', 'path', '?query', '#', '\\path'], (target) => requestLine(`GET ${target} HTTP/1.1`)));
    await bench.refuses(400, { 'OPTIONS of a URL': requestLine('OPTIONS https://api.test/ HTTP/1.1'), 'OPTIONS of more than all': requestLine('OPTIONS *x HTTP/1.1') });
  });

  test('methods that show the request to its sender, or lead elsewhere', async () => {
    await bench.refuses(405, { TRACE: requestLine('TRACE / HTTP/1.1') });
    await bench.refuses('405|400', named(['CONNECT other.test:443', 'CONNECT api.test:443', 'CONNECT /', 'TRACE *', 'TRACE https://api.test/'], (text) => requestLine(`${text} HTTP/1.1`)));
  });

  test('a first line that is not of HTTP/1.x', async () => {
    await bench.refuses(400, named(['GET /', 'GET / HTTP/2.0', 'GET / HTTP/0.9', 'GET / HTTP/11', 'GET / HTTP/1.', 'GET / HTTPS/1.1', 'GET / http/1.1', 'GET  / HTTP/1.1', 'GET /  HTTP/1.1', 'GET\t/\tHTTP/1.1', ' GET / HTTP/1.1', 'GET /a b HTTP/1.1', 'GET / HTTP/1.1 x', 'G(T / HTTP/1.1', 'GET /\0 HTTP/1.1', 'GET /\x7f HTTP/1.1', 'GET /\rx HTTP/1.1', 'hello', 'PRI * HTTP/2.0'], requestLine));
  });

  test('two ways to say how long the body is, or an odd one', async () => {
    const lengths = ['+1', '-1', '1 1', '1,1', '1, 1', '0x1', '', 'one', '1.0', '1;', '99999999999999999999', '18446744073709551617'];
    await bench.refuses(400, named(lengths, (length) => `${with_(`Content-Length: ${length}`)}x`));
    await bench.refuses(400, {
      'the same length twice': `${with_('Content-Length: 1', 'content-length: 1')}x`, 'two lengths': `${with_('Content-Length: 1', 'Content-Length: 2')}xy`,
      'length, then chunks': with_('Content-Length: 5', 'Transfer-Encoding: chunked') + head('0'), 'chunks, then length': with_('transfer-encoding: chunked', 'CONTENT-LENGTH: 5') + head('0'),
    });
    await bench.refuses(400, named(['gzip, chunked', 'chunked, gzip', 'identity', 'chunked, chunked', 'chunked,', ',chunked', 'xchunked', 'chunkedx', 'chunked;q=1', '"chunked"', '', 'chunked\x0b', '\x0bchunked', 'chunk ed'], (coding) => with_(`Transfer-Encoding: ${coding}`) + head('0')));
    await bench.refuses(400, { 'chunks twice': with_('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked') + head('0'), 'chunks, then nothing of the kind': with_('Transfer-Encoding: chunked', 'Transfer-Encoding: identity') + head('0') });
  });

  test('header lines that others read in another way', async () => {
    await bench.refuses(400, named(['Authorization : 1', 'Authorization\t: 1', 'X: 1\r\n folded', 'X: 1\r\n\tfolded', 'X\0: 1', 'X: \0', 'X: a\0b', 'X: a\rb', 'X: a\nb', 'X: a\x01b', 'X: a\x7fb', ': 1', 'no colon', 'X Y: 1', 'X(: 1', 'X\xe9: 1', '"X": 1', 'X,Y: 1'], with_));
    await bench.refuses(400, { 'a fold at the beginning': head('GET / HTTP/1.1', ' Host: api.test', 'Host: api.test', line), 'lines without CR': `GET / HTTP/1.1\nHost: api.test\n${line}\n\n\r\n\r\n`, 'one line without CR': `GET / HTTP/1.1\r\nHost: api.test\n${line}\r\n\r\n` });
  });

  test('a head that is too long', async () => {
    await bench.refuses(400, { 'one line': with_(`X-Long: ${'x'.repeat(65_600)}`), 'many lines': with_(...Array.from({ length: 2_900 }, () => 'X-Header: 12345678901')), 'the target': requestLine(`GET /${'x'.repeat(65_600)} HTTP/1.1`) });
    // Whoever goes on and on may see a reset instead of the answer.
    const { seen } = await bench.inside(() => tellAll({ 'without an end': `GET / HTTP/1.1\r\nHost: api.test\r\nX: ${'x'.repeat(1_000_000)}`, 'not even a line': 'G'.repeat(1_000_000) }));
    for (const [name, answer] of Object.entries(seen)) assert.match(answer, /^(HTTP\/1\.1 400 |ECONNRESET$|EPIPE$)/, name);
    assert.equal(await bench.said(), '');
  });

  test('and a second request of the kind just ends the connection', async () => {
    for (const bad of [head('GET /second HTTP/1.1', 'Host: other.test', line), head('TRACE /second HTTP/1.1', 'Host: api.test', line), 'GET /second\r\n\r\n']) {
      const { seen } = await bench.inside(async ({ first, bad }) => {
        const talk = await secure('api.test');
        await talk.say(first).until(/was answered/);
        return [talk.heard.length, (await talk.say(bad).all()).length];
      }, { data: { first: lasting('/first', line), bad } });
      assert.equal(seen[0], seen[1], 'nothing came after the first answer');
      assert.deepEqual((await bench.requests()).map(({ target }) => target), ['/first']);
    }
  });
});
