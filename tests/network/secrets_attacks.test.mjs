// What programs, and servers that are not who they should be, may try to get at a secret, or to get past whoever adds it.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { families, secure as places } from './lib/addresses.mjs';
import { openBench } from './lib/bench.mjs';
import { bearer, getting, head, own, placeholder, SecretsBench, valuesOf } from './lib/secrets_bench.mjs';

const bench = openBench(new SecretsBench());
const token = placeholder('github');
const line = bearer(token);
const hidden = getting('/hidden', bearer(own));
const to = (host, target = '/') => head(`GET ${target} HTTP/1.1`, `Host: ${host}`, line, 'Connection: close');

describe('a server that is not the host gets nothing:', () => {
  for (const [host, why] of Object.entries({ 'stolen.test': 'its certificate is of another authority', 'mistaken.test': 'its certificate is for another name', 'expired.test': 'its certificate has expired', 'old.test': 'it speaks an old TLS only', 'resetting.test': 'it ends the connection' })) {
    test(why, async () => {
      const { network } = await bench.refuses(502, { first: to(host), post: head('POST / HTTP/1.1', `Host: ${host}`, line, 'Content-Length: 4') + 'body' }, { host });
      assert.deepEqual([...new Set(network.map(({ host, port, verdict }) => `${host} ${port} ${verdict}`))], [`${host} 443 failed`]);
    });
  }

  for (const family of families) {
    test(`it was dialled by its address, with the name of the host, ${family}`, async () => {
      for (const who of ['otherAuthority', 'otherName', 'expired']) await bench.refuses(502, { [who]: to('api.test') }, { host: places[who][family], servername: 'api.test' });
    });
  }

  test('it is in the sandbox', async () => {
    const data = { text: head('GET / HTTP/1.1', 'Host: ported.test:8443', bearer(placeholder('ported'))), ...bench.otherAuthority.issue(['ported.test']) };
    const { seen } = await bench.inside(async ({ text, key, cert }) => {
      const heard = [];
      const server = tls.createServer({ key, cert }, (socket) => socket.on('data', (bytes) => socket.end(`heard ${heard.push(String(bytes))}`)).on('error', () => {}));
      await new Promise((resolve) => server.listen({ host: '::', port: 8443 }, resolve));
      const answers = [];
      for (const host of ['127.0.0.1', '::1', '10.0.2.15']) answers.push(await tell(text, { host, port: 8443, servername: 'ported.test' }));
      return { answers, heard };
    }, { data });
    assert.deepEqual(seen, { answers: ['heard 1', 'heard 2', 'heard 3'], heard: Array(3).fill(data.text) });
  });
});

describe('the placeholder stays one', () => {
  const unchanged = async (target) => {
    const requests = (await bench.requests()).filter((request) => request.target === target);
    assert.deepEqual(requests.map((request) => valuesOf(request, 'Authorization')), [[`Bearer ${token}`]]);
    assert.equal(bench.leaked(await bench.said()), undefined);
  };

  test('over TLS to another host, which shows its own certificate', async () => {
    const { seen } = await bench.inside(async (text) => {
      const talk = await secure('ordinary.test');
      return [talk.issuer, await talk.say(text).all()];
    }, { data: to('api.test', '/other') });
    assert.equal(seen[0], 'authority');
    await unchanged('/other');
  });

  test('at the same address under any name but that of the host, or none', async () => {
    for (const servername of ['ordinary.test', 'sub.api.test', 'xapi.test', 'api.test.other.test', 'api.tes', 'api.testx', '']) {
      const { seen } = await bench.inside(async ({ address, servername, text }) => {
        const talk = await secure(address, { servername });
        return [talk.issuer, await talk.say(text).all()];
      }, { data: { address: places.api.v4, servername, text: to('api.test', '/name') } });
      assert.equal(seen[0], 'authority', servername);
      assert.match(seen[1], /was answered$/);
      await unchanged('/name');
    }
  });

  test('over plain HTTP, on port 80 and on port 443', async () => {
    const { seen } = await bench.inside(async ({ text, echo }) => [await ask('api.test', 80, text), await ask(echo, 443, text)], { data: { text: to('api.test'), echo: places.echo.v4 } });
    assert.match(seen[0], / 80 api\.test$/);
    assert.equal(seen[1], to('api.test'));
    assert.equal(bench.leaked(JSON.stringify(await bench.lab.log())), undefined);
  });

  test('in a sandbox that may reach the address, but not the name', async () => {
    const { seen } = await bench.inside(async (text) => {
      const [address] = await lookup('ordinary.test', { family: 4 });
      return { name: await lookup('api.test'), answer: await tell(text, { host: address, servername: 'api.test' }), variable: process.env.GITHUB_TOKEN ?? null };
    }, { network: 'allow:ordinary.test', data: to('api.test', '/shared') });
    assert.deepEqual([seen.name, seen.variable], ['ENOTFOUND', null]);
    assert.equal(bench.leaked(await bench.said()), undefined, seen.answer);
  });

  test('of another secret, and its value goes to its own host only', async () => {
    assert.match(await bench.tell(getting('/', bearer(placeholder('second')), bearer(placeholder('ported')), bearer(placeholder('second-key')))), /was answered$/);
    assert.equal(bench.leaked(await bench.said()), undefined);
  });
});

describe('belljar leaves alone', () => {
  for (const family of families) {
    test(`what is no TLS, ${family}`, async () => {
      const texts = ['GET / HTTP/1.1\r\nHost: api.test\r\n\r\n', 'SSH-2.0-client\r\n', '\0', '\x16', '\x16\x03\x01', '\x16\x03\x01\xff\xff', '\x16\x03\x01\0\x05\x01\0\0\x01', `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03${'x'.repeat(507)}`, '\x16\x03\x01\0\x04\x01\0\0\0', '\x15\x03\x01\0\x02\x02\x28', `\x16\x03\x01\0\0${'\x16\x03\x01\0\0'.repeat(50)}`, '\x80\x2e\x01\0\x02', 'x'.repeat(300_000)];
      const { seen } = await bench.inside(({ address, texts }) => Promise.all(texts.map((text) => new Promise((resolve) => {
        const socket = net.connect(443, address);
        const talk = new Talk(socket);
        socket.end(Buffer.from(text, 'latin1'));
        resolve(talk.all());
      }))), { data: { address: places.echo[family], texts } });
      assert.deepEqual(seen.map((answer, n) => answer === texts[n] || answer), texts.map(() => true));
    });

    test(`whom the server speaks to first, and who says nothing, ${family}`, async () => {
      const { seen } = await bench.inside(async ({ greeter, discard, echo, text }) => {
        const late = new Talk(net.connect(443, echo));
        const [first, nothing] = [await new Talk(net.connect(443, greeter)).all(), await ask(discard, 443)];
        const meanwhile = await tell(text); // somebody who says nothing is in nobody's way
        return [first, nothing, /was answered$/.test(meanwhile), await late.say('late').until(/late/)];
      }, { data: { ...Object.fromEntries(['greeter', 'discard', 'echo'].map((who) => [who, places[who][family]])), text: to('api.test') } });
      assert.deepEqual(seen, [`you asked for ${places.greeter[family]}`, '0', true, 'late']);
    });
  }

  test('a wish for HTTP/2 only to another host', async () => {
    assert.equal((await bench.inside(async () => (await secure('ordinary.test', { ALPNProtocols: ['h2'] })).protocol)).seen, 'h2');
  });

  test('those who never finish their first message, and works on', async () => {
    const { seen } = await bench.inside(async (text) => {
      const halves = await Promise.all(Array.from({ length: 50 }, (_, n) => inPieces('api.test', (bytes) => [bytes.subarray(0, n + 1)]).then((socket) => tls.connect({ socket, servername: 'api.test' }).on('error', () => {}))));
      return [halves.length, await tell(text)];
    }, { data: to('api.test', '/whole') });
    assert.equal(seen[0], 50);
    assert.match(seen[1], /GET \/whole was answered$/);
    assert.deepEqual((await bench.requests()).map((request) => valuesOf(request, 'Authorization')), [[`Bearer ${bench.values.github}`]]);
  });
});

test('a ClientHello is recognised byte by byte, in records of any size, and when it is long', async () => {
  const { seen } = await bench.inside(async (text) => {
    const cuts = { bytes: everyByte, one: inRecords(1), few: inRecords(60), pieces: (bytes) => inRecords(100)(bytes).flatMap(everyByte), long: (bytes) => [bytes] };
    return outcomes(Object.fromEntries(Object.entries(cuts).map(([name, cut]) => [name, inPieces('api.test', cut).then((socket) => tell(text, { socket, servername: 'api.test', ...(name === 'long' && { ALPNProtocols: [...Array.from({ length: 30 }, (_, n) => `${n}`.padEnd(200, 'x')), 'http/1.1'] }) }))])));
  }, { data: to('api.test', '/cut') });
  for (const [name, answer] of Object.entries(seen)) assert.match(answer, /GET \/cut was answered$/, name);
  assert.deepEqual((await bench.requests()).map((request) => valuesOf(request, 'Authorization')), Array(5).fill([`Bearer ${bench.values.github}`]));
});

test('NW12 a connection to one host is none to another behind the same address', async () => {
  await bench.refuses(421, { known: to('second.test'), ordinary: to('ordinary.test'), ported: to('ported.test') });
  await bench.refuses(421, { back: to('api.test') }, { host: 'second.test' });
});

describe('no request hides in another:', () => {
  // What the host gets of a text that is neither refused as a whole nor a proper request to its end.
  async function nothingHidden(texts) {
    const { seen } = await bench.inside((texts) => tellAll(texts), { data: texts });
    const said = await bench.said();
    assert.ok(!said.includes(own), said);
    assert.deepEqual((await bench.requests()).filter(({ target }) => target !== '/outer'), []);
    for (const [name, answer] of Object.entries(seen)) {
      assert.doesNotMatch(answer, /hidden/, name);
      assert.notEqual(answer, 'timeout', name);
    }
  }
  const post = (...lines) => head('POST /outer HTTP/1.1', 'Host: api.test', line, ...lines);
  const chunked = post('Transfer-Encoding: chunked');

  test('NW12 by a length and chunks that do not agree', async () => {
    await bench.refuses(400, {
      'CL.TE': post(`Content-Length: ${hidden.length + 5}`, 'Transfer-Encoding: chunked') + head('0') + hidden,
      'TE.CL': post('Transfer-Encoding: chunked', 'Content-Length: 4') + head(hidden.length.toString(16), hidden, '0'),
      'CL.CL': post('Content-Length: 0', `Content-Length: ${hidden.length}`) + hidden,
      'TE.TE': post('Transfer-Encoding: chunked', 'Transfer-Encoding: cow', 'Content-Length: 4') + head(hidden.length.toString(16), hidden, '0'),
      'a blank before the colon': post('Transfer-Encoding : chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a blank before the name': post(' Transfer-Encoding: chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a fold': post('X: 1', '\tTransfer-Encoding: chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a fold of the value': post('Transfer-Encoding:', ' chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a CR in the value': post('X: 1\rTransfer-Encoding: chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a LF in the value': post('X: 1\nTransfer-Encoding: chunked', `Content-Length: ${hidden.length}`) + hidden,
      'a NUL in the name': post('Transfer-Encoding\0: chunked', `Content-Length: ${hidden.length}`) + hidden,
      'an upgrade with both': post('Upgrade: websocket', 'Connection: Upgrade', 'Transfer-Encoding: chunked', 'Content-Length: 0') + hidden,
    });
  });

  test('NW12 by a header of the program that others take for Authorization', async () => {
    await bench.refuses(400, {
      blank: getting('/', `Authorization : Bearer ${own}`), tab: getting('/', `Authorization\t: Bearer ${own}`), fold: getting('/', `X: 1\r\n ${bearer(own)}`), 'fold of a placeholder': getting('/', `${line}\r\n , Bearer ${own}`), cr: getting('/', `X: 1\r${bearer(own)}`), lf: getting('/', `X: 1\n${bearer(own)}`),
      nul: getting('/', `X: 1\0${bearer(own)}`), 'nul in the placeholder': getting('/', `Authorization: Bearer ${token}\0${own}`), 'lf after the placeholder': getting('/', `${line}\n${bearer(own)}`), 'cr after the placeholder': getting('/', `${line}\r${bearer(own)}`), 'nul in the name': getting('/', `Author\0ization: ${own}`), 'in the first line': head(`GET / HTTP/1.1\n${bearer(own)}`, 'Host: api.test'), 'in Host': head('GET / HTTP/1.1', `Host: api.test\n${bearer(own)}`),
    });
  });

  test('NW12 by chunks that are not what they seem', async () => {
    await nothingHidden({
      'a size in another notation': `${chunked}0x5\r\nhello\r\n0\r\n\r\n${hidden}`, 'a negative size': `${chunked}-1\r\n\r\n${hidden}`, 'a sign': `${chunked}+5\r\nhello\r\n0\r\n\r\n${hidden}`, 'a blank before the size': `${chunked} 5\r\nhello\r\n0\r\n\r\n${hidden}`,
      'no size': `${chunked}\r\n${hidden}`, 'a size that overflows': `${chunked}10000000000000005\r\nhello\r\n0\r\n\r\n${hidden}`, 'a size that is negative in 64 bits': `${chunked}ffffffffffffffff\n${hidden}`, 'LF after the size': `${chunked}5\nhello\r\n0\r\n\r\n${hidden}`,
      'CR alone after the size': `${chunked}5\rhello\r\n0\r\n\r\n${hidden}`, 'more than the size': `${chunked}5\r\nhelloworld\r\n0\r\n\r\n${hidden}`, 'no line end after the data': `${chunked}5\r\nhello0\r\n\r\n${hidden}`, 'other bytes for the line end': `${chunked}5\r\nhelloXX0\r\n\r\n${hidden}`,
      'LF in an extension': `${chunked}5;a\nhello\r\n0\r\n\r\n${hidden}`, 'CR in an extension': `${chunked}5;a\rb\r\nhello\r\n0\r\n\r\n${hidden}`, 'an extension without an end': `${chunked}5;${'x'.repeat(100_000)}\r\nhello\r\n0\r\n\r\n${hidden}`, 'LF in the trailers': `${chunked}0\r\nX: 1\n\r\n${hidden}`, 'a request in the trailers': `${chunked}0\r\n${hidden}`,
    });
  });

  test('NW12 by two at once of which the second is not allowed', async () => {
    const first = head('GET /outer HTTP/1.1', 'Host: api.test', line);
    await nothingHidden({
      host: first + head('GET /hidden HTTP/1.1', 'Host: other.test', bearer(own)), method: first + head('TRACE /hidden HTTP/1.1', 'Host: api.test', bearer(own)), url: first + head('GET https://other.test/hidden HTTP/1.1', 'Host: api.test', bearer(own)), noise: `${first}\0\0\0${own}\r\n\r\n`, 'both lengths': first + head('POST /hidden HTTP/1.1', 'Host: api.test', bearer(own), 'Content-Length: 1', 'Transfer-Encoding: chunked') + head('0'),
    });
  });

  test('by two at once of which each is looked at', async () => {
    assert.match(await bench.tell(head('GET /one HTTP/1.1', 'Host: api.test', line) + head('GET /two HTTP/1.1', 'Host: api.test', bearer(own)) + getting('/three', line)), /GET \/three was answered$/);
    assert.deepEqual((await bench.requests()).map((request) => valuesOf(request, 'Authorization')), [[`Bearer ${bench.values.github}`], [], [`Bearer ${bench.values.github}`]]);
    assert.ok(!(await bench.said()).includes(own));
  });

  test('NW12 by a change of the protocol that the host did not agree to', async () => {
    const upgrades = {
      'a WebSocket that is none': head('GET /outer HTTP/1.1', 'Host: api.test', line, 'Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='),
      'HTTP/2': head('GET /outer HTTP/1.1', 'Host: api.test', line, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'),
      'several protocols': head('GET /outer HTTP/1.1', 'Host: api.test', line, 'Connection: Upgrade', 'Upgrade: websocket, h2c'),
    };
    for (const [name, text] of Object.entries(upgrades)) {
      const { seen } = await bench.inside(async ({ text, hidden }) => {
        const talk = await secure('api.test');
        await talk.say(text).until(/no upgrade|was answered|belljar: /);
        return talk.say(hidden).until(/hidden was answered/);
      }, { data: { text, hidden: `${hidden}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n` } });
      assert.doesNotMatch(seen, /^HTTP\/1\.1 101/, name);
      assert.ok(!(await bench.said()).includes(own), name);
    }
  });

  test('and no other protocol than WebSocket is asked for', async () => {
    for (const protocol of ['h2c', 'TLS/1.0', 'HTTP/2.0', 'connect-udp', 'x']) {
      await bench.tell(getting('/outer', line, `Upgrade: ${protocol}`, 'HTTP2-Settings: AAMAAABkAAQAAP__').replace('Connection: close', 'Connection: Upgrade, close'));
      for (const request of await bench.requests()) assert.deepEqual(valuesOf(request, 'Upgrade'), [], protocol);
    }
  });
});
