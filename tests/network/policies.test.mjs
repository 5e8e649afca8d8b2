// What a sandbox reaches with each policy, and that whatever it reaches it reaches unchanged.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { addresses, families, inUrl, ports, socketType } from './lib/addresses.mjs';
import { inside, openBench, session } from './lib/bench.mjs';

const bench = openBench();
const { public: server, lan, host, names } = addresses;
const all = (outcomes) => [...new Set(Object.values(outcomes))];
const everybody = { tcp: families.flatMap((family) => [server, lan, host, addresses.metadata, names].map((who) => who[family])), names: ['good.test', 'evil.test', 'nobody.test'] };

for (const family of families) {
  const address = server[family];
  const kind = socketType[family];

  describe(`internet, ${family}`, () => {
    test('connections lead to the address that was asked for, on any port', async () => {
      const { seen } = await bench.inside(async ({ address, url }) => [await ask(address, 7, 'as it came'), await ask(address, 19), await ask(address, 5432, 'a database'), await get(`http://${url}/`), await get(`http://${url}:8080/`)], { data: { address, url: inUrl(address) } });
      assert.deepEqual(seen, ['as it came', `you asked for ${address}`, 'a database', `${address} 80 ${inUrl(address)}`, `${address} 8080 ${inUrl(address)}:8080`]);
      const { connections } = await bench.lab.log();
      assert.deepEqual(connections.map(({ to, port, from }) => [to, port, from]), [7, 19, 5432, 80, 8080].map((port) => [address, port, host[family]]));
    });

    test('a name can be used like an address', async () => {
      const { seen } = await bench.inside(async (family) => [await get('http://good.test/'), await ask('good.test', 7, 'by name'), await dial('good.test', 7, { family })], { data: family === 'v4' ? 4 : 6 });
      assert.match(seen[0], / 80 good\.test$/);
      assert.deepEqual(seen.slice(1), ['by name', 'connected']);
    });

    test('much passes in both directions, byte by byte', async () => {
      const size = 16 << 20;
      const { seen } = await bench.inside(async ({ url, size }) => {
        const { createHash, randomBytes } = await import('node:crypto');
        const body = randomBytes(size);
        const down = await fetch(`http://${url}/bytes/${size}`).then((response) => response.bytes());
        return { up: await get(`http://${url}/sum`, { method: 'POST', body }), sent: createHash('sha256').update(body).digest('hex'), down: createHash('sha256').update(down).digest('hex') };
      }, { data: { url: inUrl(address), size } });
      assert.equal(seen.up, seen.sent);
      assert.equal(seen.down, createHash('sha256').update(Buffer.alloc(size, 'x')).digest('hex'));
    });

    test('an end that is said in one direction leaves the other open', async () => {
      const { seen } = await bench.inside((address) => ask(address, 9, 'x'.repeat(300_000)), { data: address });
      assert.equal(seen, '300000');
    });

    test('a reset stays a reset, in both directions', async () => {
      const { seen } = await bench.inside(async (address) => {
        const reset = await ask(address, 21, 'x');
        await new Promise((resolve) => {
          const socket = net.connect(7, address).on('data', () => socket.resetAndDestroy()).on('close', resolve);
          socket.write('then a reset');
        });
        return reset;
      }, { data: address });
      assert.equal(seen, 'ECONNRESET');
      await until('the reset to arrive', async () => (await bench.lab.log()).connections.find(({ port }) => port === 7)?.reset);
    });

    test('many connections at once', async () => {
      const { seen } = await bench.inside((address) => Promise.all(Array.from({ length: 100 }, (_, n) => ask(address, 7, `number ${n}`))), { data: address });
      assert.deepEqual(seen, Array.from({ length: 100 }, (_, n) => `number ${n}`));
    });

    test('datagrams of every size, on several ports, come back to the socket that sent them', async () => {
      const list = ports.datagrams.map((port) => [address, port, `to ${port}`]);
      const sizes = [0, 1, 512, 1400, 1472, 4000, 60_000].map((size) => [address, 7, String(size).padEnd(size, '.').slice(0, size)]);
      const { seen } = await bench.inside(async ({ kind, list }) => (await Promise.all(list.map((one) => datagrams(kind, [one])))).flat(), { data: { kind, list: [...list, ...sizes] } });
      assert.deepEqual(seen, [...list, ...sizes].map(([, , text]) => text));
    });

    test('one socket speaks with several peers, and a connected one with its own', async () => {
      const { seen } = await bench.inside(async ({ kind, address, second }) => {
        const connected = await new Promise((resolve) => {
          const socket = dgram.createSocket(kind);
          socket.on('message', (bytes, peer) => resolve([String(bytes), peer.address, peer.port]) ?? socket.close());
          socket.connect(7, address, () => socket.send('connected'));
        });
        return { connected, several: (await datagrams(kind, [[address, 7, 'one'], [address, 123, 'two'], [second, 7, 'lost'], [address, 443, 'three']])).sort() };
      }, { data: { kind, address, second: lan[family] } });
      assert.deepEqual(seen, { connected: ['connected', address, 7], several: ['one', 'three', 'two'] });
    });

    test('one port speaks with several peers at the same time', async () => {
      const { seen } = await bench.inside(async ({ address, other }) => {
        const speak = (host, port) => new Promise((resolve) => {
          const socket = net.connect({ host, port, localPort: 40_000 });
          socket.on('data', (bytes) => resolve([socket, String(bytes)])).on('error', (error) => resolve([socket, codeOf(error)]));
          socket.write(`${port}`);
        });
        // None of them ends before all are answered.
        const all = await Promise.all([speak(address, 7), speak(address, 22), speak(other, 7), speak(address, 25)]);
        for (const [socket] of all) socket.destroy();
        return all.map(([, answer]) => answer);
      }, { data: { address, other: names[family] } });
      assert.deepEqual(seen, ['7', '22', '7', '25']);
    });

    test('who is not there is not there', async () => {
      const { seen, network } = await bench.inside(async ([closed, nowhere]) => [await dial(closed, 81), await dial(nowhere, 80)], { data: [address, addresses.unreachable[family]] });
      assert.equal(seen[0], 'ECONNREFUSED');
      assert.match(seen[1], /^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/);
      assert.deepEqual(network.map(({ verdict }) => verdict), ['failed', 'failed']);
    });

    test('no private address is reached by TCP', async () => {
      const some = family === 'v4'
        ? ['10.1.2.3', '10.0.0.1', '10.0.2.2', '10.0.2.4', '10.255.255.255', '172.16.0.1', '172.31.255.254', '192.168.7.7', '192.168.0.1', '100.64.0.1', '100.100.100.200', '100.127.255.254', '169.254.169.254', '169.254.170.2', '192.0.0.8', '192.0.2.1', '198.18.0.1', '198.19.255.254', '198.51.100.1', '203.0.113.1', '240.0.0.1', '255.255.255.254']
        : ['fd12::7', 'fd12::8', 'fd00:ec2::254', 'fd20:ce::254', 'fd00::2', 'fc00::1', 'fec0::1', '100::1', '2001:db8::1', '2001::1', '2002:a01:203::', '64:ff9b::a01:203', '64:ff9b::a9fe:a9fe', '64:ff9b:1::1', '::ffff:10.1.2.3', '::ffff:169.254.169.254'];
      const { seen, network } = await bench.inside((all) => outcomes(Object.fromEntries(all.map((host) => [host, dial(host, 80)]))), { data: some });
      assert.deepEqual(seen, Object.fromEntries(some.map((host) => [host, 'ECONNREFUSED'])));
      assert.deepEqual([...new Set(network.map(({ verdict }) => verdict))], ['blocked']);
      assert.deepEqual((await bench.lab.log()).connections, []);
    });

    test('no private address is reached by UDP', async () => {
      const some = [lan, addresses.secondLan, addresses.metadata, addresses.secondMetadata].flatMap((who) => ports.datagrams.map((port) => [who[family], port, `${who[family]} ${port}`]));
      const { seen } = await bench.inside(({ kind, list }) => datagrams(kind, list), { data: { kind, list: [...some, [address, 7, 'last']] } });
      assert.deepEqual(seen, ['last']);
      assert.deepEqual((await bench.lab.log()).datagrams, [{ to: address, port: 7, text: 'last' }]);
    });

    test('neighbours of the host are not reached, though their addresses are public', async () => {
      const data = { neighbour: addresses.neighbour[family], kind, address };
      const { seen } = await bench.inside(async ({ neighbour, kind, address }) => [await dial(neighbour, 80), await datagrams(kind, [[neighbour, 7, 'lost'], [address, 7, 'last']])], { data });
      assert.deepEqual(seen, ['ECONNREFUSED', ['last']]);
      const named = await bench.inside(async ({ neighbour, kind }) => [await dial(neighbour, 80), await datagrams(kind, [[neighbour, 7, 'named']])], { network: `allow:${inUrl(data.neighbour)},${inUrl(data.neighbour)}:7`, data });
      assert.deepEqual(named.seen, ['connected', ['named']]);
    });

    test('the host is not reached: not on its public address, nor by any name for its loopback', async () => {
      const data = { own: host[family], kind, address };
      const { seen } = await bench.inside(async ({ own, kind, address }) => ({
        tcp: await outcomes(Object.fromEntries([own, '127.0.0.1', '::1', 'localhost', '0.0.0.0', '::', '10.0.2.2', '10.0.2.15', 'fd00::15', '127.0.0.2', '::ffff:127.0.0.1', 'self.test', 'loop.test'].flatMap((host) => [7777, 7778].map((port) => [`${host} ${port}`, dial(host, port)])))),
        udp: await datagrams(kind, [[own, 7777, 'a'], [own, 7778, 'b'], [address, 7, 'last']]),
      }), { data });
      assert.deepEqual([all(seen.tcp), seen.udp], [['ECONNREFUSED'], ['last']]);
      const { host: ofHost } = await bench.lab.log();
      assert.deepEqual([ofHost.connections, ofHost.datagrams], [[], []]);
    });
  });

  describe(`allow, ${family}`, () => {
    const number = family === 'v4' ? 4 : 6;

    test('an allowed name on 80 and 443, if the rule has no port', async () => {
      const { seen } = await bench.inside((family) => outcomes(Object.fromEntries([80, 443, 8080, 7, 22].map((port) => [port, dial('good.test', port, { family })]))), { network: 'allow:good.test', data: number });
      assert.deepEqual(seen, { 80: 'connected', 443: 'connected', 8080: 'ECONNREFUSED', 7: 'ECONNREFUSED', 22: 'ECONNREFUSED' });
    });

    test('an allowed name on the port of its rule only', async () => {
      const { seen } = await bench.inside((family) => outcomes(Object.fromEntries([80, 443, 8080, 7].map((port) => [port, dial('good.test', port, { family })]))), { network: 'allow:good.test:7,good.test:8080', data: number });
      assert.deepEqual(seen, { 80: 'ECONNREFUSED', 443: 'ECONNREFUSED', 8080: 'connected', 7: 'connected' });
    });

    test('a wildcard allows what is beneath, at any depth, and not the name itself', async () => {
      const { seen } = await bench.inside((family) => outcomes(Object.fromEntries(['sub.good.test', 'deep.sub.good.test', 'good.test', 'other.test'].map((name) => [name, dial(name, 80, { family })]))), { network: 'allow:*.good.test', data: number });
      assert.deepEqual(seen, { 'sub.good.test': 'connected', 'deep.sub.good.test': 'connected', 'good.test': 'ENOTFOUND', 'other.test': 'ENOTFOUND' });
    });

    test('the address of an allowed name counts only after the name was looked up', async () => {
      const { seen } = await bench.inside(async ({ address, family }) => [await dial(address, 80), await lookup('good.test', { family }), await dial(address, 80), await dial(address, 8080)], { network: 'allow:good.test', data: { address, family: number } });
      assert.deepEqual(seen, ['ECONNREFUSED', [address], 'connected', 'ECONNREFUSED']);
    });

    test('an allowed address is reached as it is, and gives nothing to names', async () => {
      const { seen } = await bench.inside(async ({ address, other, family }) => [await ask(address, 7, 'direct'), await dial(address, 80), await dial(other, 7), await lookup('good.test', { family })], { network: `allow:${inUrl(address)}:7`, data: { address, other: lan[family], family: number } });
      assert.deepEqual(seen, ['direct', 'ECONNREFUSED', 'ECONNREFUSED', 'ENOTFOUND']);
    });

    test('datagrams are for allowed names and ports, too', async () => {
      const { seen } = await bench.inside(async ({ kind, address, family }) => {
        await lookup('good.test', { family });
        return datagrams(kind, [[address, 123, 'other port'], [address, 7, 'allowed']]);
      }, { network: 'allow:good.test:7', data: { kind, address, family: number } });
      assert.deepEqual(seen, ['allowed']);
      assert.deepEqual((await bench.lab.log()).datagrams.map(({ text }) => text), ['allowed']);
    });

    test('an allowed name that leads to a private address leads nowhere', async () => {
      const { seen } = await bench.inside((family) => outcomes(Object.fromEntries(['evil.test', 'meta.test', 'self.test', 'loop.test'].map((name) => [name, dial(name, name === 'self.test' ? 7777 : 80, { family })]))), { network: 'allow:evil.test,meta.test,self.test:7777,loop.test', data: number });
      for (const [name, outcome] of Object.entries(seen)) assert.match(outcome, /^(ECONNREFUSED|ENOTFOUND)$/, name);
      const { connections, host: ofHost } = await bench.lab.log();
      assert.deepEqual([connections, ofHost.connections], [[], []]);
    });
  });

  describe(`host, ${family}`, () => {
    test('the LAN, the host and everybody else are reached', async () => {
      const { seen } = await bench.inside(async ({ url, lan, own, kind, address }) => ({ lan: await get(`http://${lan}/`), host: await get(`http://${own}:7777/`), public: await get(`http://${url}/`), name: await ask('evil.test', 7, 'by name'), udp: await datagrams(kind, [[address, 7, 'datagram']]) }),
        { network: 'host', data: { url: inUrl(address), lan: inUrl(lan[family]), own: inUrl(host[family]), kind, address: lan[family] } });
      assert.equal(seen.lan, `${lan[family]} 80 ${inUrl(lan[family])}`);
      assert.equal(seen.host, `${host[family]} 7777 ${inUrl(host[family])}:7777`);
      assert.equal(seen.public, `${address} 80 ${inUrl(address)}`);
      assert.deepEqual([seen.name, seen.udp], ['by name', ['datagram']]);
    });
  });
}

describe('host', () => {
  test('10.0.2.2 is the loopback of the host, and 127.0.0.1 still that of the sandbox', async () => {
    const { seen } = await bench.inside(async () => [await get('http://10.0.2.2:7778/'), await dial('127.0.0.1', 7778), await dial('localhost', 7777), await datagrams('udp4', [['10.0.2.2', 7778, 'datagram']])], { network: 'host' });
    assert.deepEqual(seen, ['127.0.0.1 7778 10.0.2.2:7778', 'ECONNREFUSED', 'ECONNREFUSED', ['datagram']]);
  });
});

for (const policy of ['none', 'allow:']) {
  test(`${policy}: nothing is reached and nothing leaves, not even a question`, async (t) => {
    const server_ = await bench.serve(t); // no packet of an earlier connection may come in between
    await inside(server_, () => 0, { network: 'none' });
    const before = bench.lab.arrived();
    await bench.lab.reset();
    const { seen } = await inside(server_, async ({ tcp, names }) => ({
      tcp: await outcomes(Object.fromEntries(tcp.map((address) => [address, dial(address, 80)]))), names: await outcomes(Object.fromEntries(names.map((name) => [name, lookup(name)]))),
      udp: await outcomes(Object.fromEntries(tcp.map((address) => [address, new Promise((resolve) => {
        const socket = dgram.createSocket(net.isIPv6(address) ? 'udp6' : 'udp4');
        socket.send('x', 7, address, (error) => resolve(error ? 'error' : 'sent') ?? socket.close());
      })]))),
      server: await resolve('good.test', 'A', '9.9.9.9', { timeout: 200, tries: 1 }),
    }), { network: policy, data: everybody });
    assert.ok(all(seen.tcp).every((outcome) => ['ECONNREFUSED', 'ENETUNREACH'].includes(outcome)), JSON.stringify(seen.tcp));
    assert.ok(all(seen.names).every((outcome) => ['ENOTFOUND', 'EAI_AGAIN'].includes(outcome)), JSON.stringify(seen.names));
    assert.match(seen.server, /^(ETIMEOUT|ECONNREFUSED|ENOTFOUND|ESERVFAIL|EREFUSED)$/);
    assert.deepEqual(bench.lab.arrived(), before);
    const { connections, datagrams, queries } = await bench.lab.log();
    assert.deepEqual([connections, datagrams, queries], [[], [], []]);
  });
}

for (const policy of ['none', 'internet', 'allow:', 'host']) {
  test(`${policy}: programs of a sandbox speak with each other on its own loopback`, async () => {
    const { seen } = await bench.inside(async (known) => {
      const server = net.createServer((socket) => socket.end('here')).listen({ port: 4321, host: '::' });
      await new Promise((resolve) => server.on('listening', resolve));
      const udp = dgram.createSocket('udp4').bind(4321, '127.0.0.1');
      udp.on('message', (bytes, peer) => udp.send(bytes, peer.port, peer.address));
      return [await ask('127.0.0.1', 4321), await ask('localhost', 4321), await ask('::1', 4321), await datagrams('udp4', [['127.0.0.1', 4321, 'datagram']]), known ? await ask('10.0.2.15', 4321) : 'here'];
    }, { network: policy, data: policy === 'internet' || policy === 'host' });
    assert.deepEqual(seen, ['here', 'here', 'here', ['datagram'], 'here']);
  });
}

test('a port is published, and a server behind it asks the outside', async (t) => {
  const id = await session(t, bench.server, { network: 'internet' });
  const port = 18_080;
  const code = "import http from 'node:http'; http.createServer(async (_, answer) => answer.end(await (await fetch('http://good.test/')).text())).listen(18080);";
  const result = await bench.server.call('run_js', { container_id: id, code, listenOnPort: port });
  assert.ok(!result.isError, result.text);
  assert.match(await bench.onHost((port) => get(`http://127.0.0.1:${port}/`), port), / 80 good\.test$/);
});

test('a session keeps its policy for all its programs and commands', async (t) => {
  const id = await session(t, bench.server, { network: 'allow:good.test' });
  for (let n = 0; n < 2; n += 1) {
    const { seen } = await inside(bench.server, async () => [await get('http://good.test/'), await dial('other.test', 80)], { in: id });
    assert.match(seen[0], / 80 good\.test$/);
    assert.equal(seen[1], 'ENOTFOUND');
  }
  const { text } = await bench.server.call('sandbox_exec', { container_id: id, commands: [`node -e "fetch('http://good.test/').then((answer) => answer.text()).then(console.log); require('net').connect(80, '93.184.216.35').on('error', (error) => console.log(error.code))"`] });
  assert.match(text, / 80 good\.test/);
  assert.match(text, /ECONNREFUSED/);
});

test('child processes have the same way out', async () => {
  const { seen } = await bench.inside(() => cp.execFileSync('node', ['-e', "require('net').connect(19, 'v4.test').pipe(process.stdout)"]).toString());
  assert.equal(seen, `you asked for ${server.v4}`);
});

test('the connections of a program end with it', async () => {
  await bench.inside((address) => new Promise((resolve) => net.connect(7, address).on('data', resolve).write('open')), { data: server.v4 });
  await until('the connection to end', async () => (await bench.lab.log()).connections.every(({ open }) => !open));
  assert.deepEqual((await bench.lab.log()).connections.map(({ text }) => text), ['open']);
});

test('nothing of sandboxes that are gone stays with the server', async () => {
  const open = () => readdirSync(`/proc/${bench.server.pid}/fd`).length;
  const use = () => bench.inside(async () => [await ask('good.test', 7, 'x'), await datagrams('udp4', [['93.184.216.34', 7, 'y']]), await dial('10.1.2.3', 80), net.connect(9, '93.184.216.201').on('error', () => {}), net.connect(9, '93.184.216.34').on('error', () => {})].slice(0, 3));
  await Promise.all([use(), use()]);
  let idle;
  await until('the server to be idle', () => idle === (idle = open()));
  for (let n = 0; n < 10; n += 1) await Promise.all([use(), use()]);
  // Spare sandboxes come and go; one descriptor of each of the twenty would be more than that.
  await until(`the server to have about ${idle} descriptors again`, () => open() < idle + 20);
});
