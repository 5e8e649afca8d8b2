// NW: with the network off a sandbox has a loopback interface of its own and no way to anything else. What a policy lets through is in tests/network.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readlinkSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';

import { freePort } from '../e2e/lib/ports.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';
import { nr, onlyX64 } from './lib/syscalls.mjs';

const jar = openJar({ env: { BELLJAR_NETWORK: 'none' } });
const unreachable = ['ENETUNREACH', 'EADDRNOTAVAIL', 'ECONNREFUSED', 'EHOSTUNREACH', 'EAI_AGAIN', 'ENOTFOUND', 'ECONNRESET', 'ENODATA', 'ESERVFAIL', 'EREFUSED'];

test('NW01 NW02 NW14 nothing on the network can be reached, by name or by address, with or without a proxy', async () => {
  const own = Object.values(networkInterfaces()).flat().filter(({ internal, scopeid }) => !internal && !scopeid).map(({ address }) => address);
  const hosts = ['example.com', 'metadata.google.internal', 'host.docker.internal', 'localhost.', '169.254.169.254', '169.254.170.2', '100.100.100.200', '100.96.0.96', 'fd00:ec2::254', '1.1.1.1', '10.0.0.1', '172.17.0.1', '192.168.1.1', '0.0.0.0', ...own];
  const seen = await jar.inside(async (hosts) => {
    for (const name of ['HTTP_PROXY', 'HTTPS_PROXY', 'http_proxy']) delete process.env[name];
    process.env.NO_PROXY = '*';
    const dial = (host, port) => new Promise((resolve) => net.connect({ host, port, timeout: 1000 }, () => resolve('connected')).on('error', (error) => resolve(error.code ?? error.errors?.[0].code)).on('timeout', () => resolve('timeout')));
    const fetched = await fetch('http://example.com').then(() => 'ok', (error) => error.cause?.code ?? 'failed');
    return Object.fromEntries([['fetch', fetched], ...await Promise.all(hosts.flatMap((host) => [80, 443, 3128].map(async (port) => [`${host} ${port}`, await dial(host, port)])))]);
  }, { data: hosts });
  onlyThese(seen, unreachable, 'failed');
});

test('NW08 NW13 no name is resolved and no datagram leaves, over IPv4, IPv6, ICMP or otherwise', onlyX64, async () => {
  const seen = await jar.inside(async (nr) => {
    const dns = await import('node:dns/promises');
    const dgram = await import('node:dgram');
    const send = (kind, host, port) => new Promise((resolve) => {
      const socket = dgram.createSocket(kind);
      const done = (outcome) => resolve(outcome) ?? socket.close();
      socket.on('error', ({ code }) => done(code));
      socket.send('x', port, host, (error) => done(error?.code ?? 'sent'));
    });
    const resolver = new dns.Resolver({ timeout: 300, tries: 1 });
    resolver.setServers(['1.1.1.1', '169.254.169.254']);
    return {
      lookup: await dns.lookup('tunnel.example').catch(({ code }) => code), resolve: await resolver.resolve4('tunnel.example').catch(({ code }) => code),
      dns: await send('udp4', '1.1.1.1', 53), quic: await send('udp4', '1.1.1.1', 443), six: await send('udp6', '2606:4700:4700::1111', 443), mdns: await send('udp4', '224.0.0.251', 5353), broadcast: await send('udp4', '255.255.255.255', 67),
      link: await send('udp6', 'ff02::1%lo', 5353), ...calls([['icmp', nr.socket, 2, 2, 1], ['raw', nr.socket, 2, 3, 1], ['packet', nr.socket, 17, 3, 0x0300]]),
    };
  }, { data: nr });
  onlyThese(seen, unreachable, refusals, 'ETIMEOUT');
});

test('NW24 NW25 the network namespace has one interface, no route and no name', async () => {
  const seen = await jar.inside(() => ({
    route: fs.readFileSync('/proc/net/route', 'utf8').trim().split('\n').slice(1), six: attempt(() => fs.readFileSync('/proc/net/ipv6_route', 'utf8')).value ?? '', addresses: attempt(() => fs.readFileSync('/proc/net/if_inet6', 'utf8')).value ?? '', arp: fs.readFileSync('/proc/net/arp', 'utf8').trim().split('\n').slice(1),
    ...tryToRead(['/var/run/netns', '/run/netns', '/proc/1/ns/net', '/sys/class/net/eth0', '/proc/sys/net/ipv4/ip_forward']), own: fs.readlinkSync('/proc/self/ns/net'), interfaces: Object.keys(os.networkInterfaces()),
  }));
  assert.deepEqual([seen.route, seen.arp, seen.interfaces], [[], [], ['lo']]);
  for (const line of `${seen.six}${seen.addresses}`.trim().split('\n').filter(Boolean)) assert.match(line, / lo$/);
  assert.notEqual(seen.own, readlinkSync('/proc/self/ns/net'));
  onlyThese(Object.fromEntries(Object.entries(seen).filter(([name]) => name.startsWith('/'))), refusals, 'EISDIR', 'ENOTDIR');
});

test('NW18 the port of a sandbox that is gone is closed, and whoever gets it next gets no old traffic', async (t) => {
  const port = await freePort();
  const code = `import net from 'node:net'; net.createServer((socket) => socket.write('old')).listen(${port})`;
  const { text: first } = await jar.server.call('sandbox_initialize');
  await jar.server.call('run_js', { container_id: first, code, listenOnPort: port });
  const client = connect(port, '127.0.0.1').on('error', () => {});
  await once(client, 'data');
  await jar.server.call('sandbox_stop', { container_id: first });
  await until('the old connection to end', () => client.destroyed || client.readableEnded || client.closed || !client.resume().writable);
  const refused = createServer().listen(port, '127.0.0.1'); // it is free again
  await once(refused, 'listening');
  refused.close();
  await once(refused, 'close');
  const second = await jar.session(t);
  const result = await jar.server.call('run_js', { container_id: second, code: `import net from 'node:net'; let seen = ''; net.createServer((socket) => { socket.on('data', (bytes) => (seen += bytes)); socket.end('new' + seen) }).listen(${port})`, listenOnPort: port });
  assert.ok(!result.isError, result.text);
  client.write('old traffic');
  const fresh = connect(port, '127.0.0.1');
  const [bytes] = await once(fresh, 'data');
  assert.equal(String(bytes), 'new');
  client.destroy();
  fresh.destroy();
});
