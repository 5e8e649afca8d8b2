// The lab itself, without belljar: who is not stopped reaches everybody. Without these tests the others would prove nothing.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { environment } from '../e2e/lib/belljar.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { addresses, families, inUrl, ports, socketType, worldly } from './lib/addresses.mjs';
import { Bench } from './lib/bench.mjs';
import { Lab, processesIn } from './lib/lab.mjs';

const bench = new Bench();
before(async () => (bench.lab = await Lab.start()));
after(() => bench.lab.stop());

for (const family of families) {
  describe(family, () => {
    test('every server of the world answers the host, and says who it is', async () => {
      const all = worldly.map((who) => addresses[who][family]);
      const urls = all.flatMap((address) => ports.http.map((port) => `http://${inUrl(address)}:${port}/`));
      const seen = await bench.onHost((urls) => outcomes(Object.fromEntries(urls.map((url) => [url, get(url)]))), urls);
      for (const url of urls) {
        const { hostname, port, host } = new URL(url);
        assert.equal(seen[url], `${hostname.replace(/[[\]]/g, '')} ${port || 80} ${host}`);
      }
    });

    test('echo, greeter, discard and resetter', async () => {
      const seen = await bench.onHost(async (host) => [await ask(host, 7, 'as it came'), await ask(host, 19), await ask(host, 9, 'x'.repeat(1000)), await ask(host, 21, 'x')], addresses.public[family]);
      assert.deepEqual(seen, ['as it came', `you asked for ${addresses.public[family]}`, '1000', 'ECONNRESET']);
    });

    test('datagrams come back from everybody who has a name, on every port', async () => {
      const list = worldly.filter((who) => who !== 'names').flatMap((who) => ports.datagrams.map((port) => [addresses[who][family], port, `${who} ${port}`]));
      const seen = await bench.onHost(async ({ kind, list }) => (await Promise.all(list.map((one) => datagrams(kind, [one])))).flat(), { kind: socketType[family], list });
      assert.deepEqual(seen, list.map(([, , text]) => text));
    });

    test('nobody is where nobody should be', async () => {
      const seen = await bench.onHost(async ([here, nowhere]) => [await dial(here, 81), await dial(nowhere, 80)], [addresses.public[family], addresses.unreachable[family]]);
      assert.equal(seen[0], 'ECONNREFUSED');
      assert.match(seen[1], /EHOSTUNREACH|ENETUNREACH/);
    });

    test('the host has services of its own, on a public address and on its loopback', async () => {
      const seen = await bench.onHost(async ([own, loopback]) => [await get(`http://${own}:7777/`), await get(`http://${loopback}:7778/`), await get(`http://${own}:7778/`)], [inUrl(addresses.host[family]), family === 'v4' ? '127.0.0.1' : '[::1]']);
      assert.match(seen[0], new RegExp(`^${addresses.host[family]} 7777`));
      assert.match(seen[1], /^(127\.0\.0\.1|::1) 7778/);
      assert.equal(seen[2], 'ECONNREFUSED');
    });
  });
}

test('the world answers for every private address, so that a hole would show', async () => {
  const seen = await bench.onHost((all) => outcomes(Object.fromEntries(all.map((host) => [host, dial(host, 80)]))), ['10.255.0.1', '172.31.9.9', '192.168.200.1', '100.96.0.96', '169.254.170.2', '198.18.0.1', '240.0.0.1', 'fd99::1', '64:ff9b::7f00:1', '2002:7f00:1::']);
  assert.deepEqual(new Set(Object.values(seen)), new Set(['connected']));
});

test('names lead where the zone says, over UDP and TCP', async () => {
  await bench.lab.reset();
  const seen = await bench.onHost(async () => ({
    good: await lookup('good.test'), alias: await resolve('alias.test'), six: await resolve('good.test', 'AAAA'), text: await resolve('good.test', 'TXT'), evil: await lookup('evil.test', { family: 4 }),
    big: (await resolve('big.test')).length, long: (await resolve('long.test', 'TXT')).length, none: await resolve('nobody.test'), failing: await resolve('failing.test'),
    first: await resolve('rebind.test'), second: await resolve('rebind.test'), wrong: await resolve('wrong-id.test'), garbage: await resolve('malformed.test', 'A', undefined, { timeout: 200, tries: 1 }),
    attacker: await resolve('good.test', 'A', '93.184.216.34'), six_server: await resolve('good.test', 'A', '2620:fe::9'),
  }));
  const { public: server, lan } = addresses;
  assert.deepEqual(seen, {
    good: [server.v6, server.v4].sort(), alias: [server.v4], six: [server.v6], text: ['a good name'], evil: [lan.v4], big: 100, long: 20, none: 'ENOTFOUND', failing: 'ESERVFAIL',
    first: [server.v4], second: [lan.v4], wrong: [server.v4], garbage: seen.garbage, attacker: [server.v4], six_server: [server.v4],
  });
  assert.ok(typeof seen.garbage === 'string', 'the C library gets nothing out of garbage');
  const { queries } = await bench.lab.log();
  const of = (name) => queries.filter((query) => query.name === name).map(({ type, over }) => `${type} ${over}`);
  assert.deepEqual(of('big.test'), ['A udp', 'A tcp']);
  assert.deepEqual(of('rebind.test'), ['A udp', 'A udp']);
  assert.deepEqual(new Set(queries.map(({ at }) => at)), new Set([addresses.names.v4, server.v4, addresses.names.v6]));
});

test('an answer can be held back until the test lets it go', async () => {
  await bench.lab.reset();
  const answer = bench.onHost(() => resolve('late.test', 'A', undefined, { timeout: 5_000, tries: 1 }));
  await until('the query to arrive', async () => (await bench.lab.log()).queries.length > 0);
  await bench.lab.world.ask('release');
  assert.deepEqual(await answer, [addresses.public.v4]);
});

test('what arrives is counted and remembered, and nothing else is', async () => {
  await bench.lab.reset();
  const before = bench.lab.arrived();
  await bench.onHost(() => 0);
  assert.deepEqual(bench.lab.arrived(), before);
  await bench.onHost(async () => [await datagrams('udp4', [['93.184.216.34', 7, 'a secret']]), await ask('2606:4700::1111', 7, 'another')]);
  const arrived = bench.lab.arrived();
  assert.equal(arrived.v4, before.v4 + 1);
  assert.ok(arrived.v6 > before.v6);
  const { connections, datagrams, queries, host } = await bench.lab.log();
  assert.deepEqual(datagrams, [{ to: '93.184.216.34', port: 7, text: 'a secret' }]);
  assert.deepEqual(connections, [{ to: '2606:4700::1111', port: 7, from: '2606:4700::99', bytes: 7, text: 'another', open: connections[0]?.open, reset: false }]);
  assert.deepEqual([queries, host.connections], [[], []]);
});

test('belljar is started in the network of the host, with a resolv.conf that nobody else sees', () => {
  const outside = readFileSync('/etc/resolv.conf', 'utf8');
  const wrapper = new URL('lib/in_lab', import.meta.url).pathname;
  const run = (program, ...args) => execFileSync(wrapper, args, { env: environment(bench.lab.environment(program)), encoding: 'utf8' });
  assert.equal(run('/bin/cat', '/etc/resolv.conf'), 'nameserver 9.9.9.9\n');
  assert.equal(run('/bin/readlink', '/proc/self/ns/net').trim(), bench.lab.host.inode);
  assert.equal(readFileSync('/etc/resolv.conf', 'utf8'), outside);
});

test('a lab that ends leaves nothing behind, nor does one whose test is killed', async () => {
  const second = await Lab.start();
  assert.notEqual(second.world.inode, bench.lab.world.inode);
  await second.stop();
  assert.ok(!existsSync(`/proc/${second.world.child.pid}`) && !existsSync(second.directory));

  const code = `import { Lab } from ${JSON.stringify(new URL('lib/lab.mjs', import.meta.url).href)}; const lab = await Lab.start(); console.log([lab.world.inode, lab.host.inode, lab.directory].join());`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [inodes] = await once(child.stdout.setEncoding('utf8'), 'data');
  child.kill('SIGKILL');
  const [world, host, directory] = inodes.trim().split(',');
  await until('all of the lab to end', () => [world, host].every((inode) => processesIn(inode).length === 0));
  execFileSync('rm', ['-r', directory]);
});
