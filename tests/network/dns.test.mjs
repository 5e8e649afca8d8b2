// The name server that sandboxes have, 10.0.2.3: it asks the host's servers for what the policy allows, and nobody for the rest.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { addresses } from './lib/addresses.mjs';
import { inside, openBench } from './lib/bench.mjs';
import { decode, encodeName, encodeQuery } from './lib/dns_message.mjs';

const bench = openBench();
const { public: server, lan, names } = addresses;
const both = ({ v4, v6 }) => [v4, v6].sort();
const queried = async () => (await bench.lab.log()).queries;
const base64 = (query) => query.toString('base64');

describe('internet', () => {
  test('the C library and a resolver find the server in /etc/resolv.conf', async () => {
    const { seen } = await bench.inside(async () => ({ file: fs.readFileSync('/etc/resolv.conf', 'utf8'), servers: dns.getServers(), library: await lookup('good.test'), resolver: await resolve('good.test'), six: await resolve('good.test', 'AAAA') }));
    assert.match(seen.file, /^nameserver 10\.0\.2\.3$/m);
    assert.deepEqual({ ...seen, file: '' }, { file: '', servers: ['10.0.2.3'], library: both(server), resolver: [server.v4], six: [server.v6] });
    assert.deepEqual(new Set((await queried()).map(({ at }) => at)), new Set([names.v4]));
  });

  test('records of other types, aliases, and names of one family', async () => {
    const { seen } = await bench.inside(async () => ({ text: await resolve('good.test', 'TXT'), mail: await resolve('good.test', 'MX'), alias: await resolve('alias.test'), cname: await resolve('alias.test', 'CNAME'), four: await lookup('v4.test'), six: await lookup('v6.test'), missing: await resolve('v4.test', 'AAAA') }));
    assert.deepEqual(seen, { text: ['a good name'], mail: [{ exchange: 'mail.good.test', priority: 10 }].map((mail) => ({ ...mail, ...seen.mail[0] })), alias: [server.v4], cname: ['good.test'], four: [server.v4], six: [server.v6], missing: 'ENODATA' });
  });

  test('a name that does not exist, and a server that fails, are told apart', async () => {
    const { seen } = await bench.inside(async () => [await resolve('nobody.test'), await lookup('nobody.test'), await resolve('failing.test')]);
    assert.deepEqual(seen, ['ENOTFOUND', 'ENOTFOUND', 'ESERVFAIL']);
  });

  test('an answer that is too long for a datagram comes over TCP', async () => {
    const { seen } = await bench.inside(async () => [(await resolve('big.test')).length, (await resolve('long.test', 'TXT')).length, (await lookup('big.test', { family: 4 })).length]);
    assert.deepEqual(seen, [100, 20, 100]);
    assert.ok((await queried()).some(({ over }) => over === 'tcp'));
  });

  test('capitals and a dot at the end change nothing', async () => {
    const { seen } = await bench.inside(async () => [await resolve('GOOD.Test'), await resolve('good.test.'), await lookup('gOOd.tEST.', { family: 4 })]);
    assert.deepEqual(seen, [[server.v4], [server.v4], [server.v4]]);
  });

  test('two hundred names at once', async () => {
    const { seen } = await bench.inside(() => Promise.all(Array.from({ length: 200 }, (_, n) => resolve(n % 2 ? 'good.test' : `nobody-${n}.test`, 'A', undefined, { timeout: 5_000 }))));
    assert.equal(seen.filter((found) => found === 'ENOTFOUND').length, 100);
    assert.equal(seen.filter((found) => Array.isArray(found)).length, 100);
  });

  test('localhost needs nobody', async () => {
    const { seen } = await bench.inside(() => lookup('localhost'));
    assert.ok(seen.includes('127.0.0.1'), JSON.stringify(seen));
    assert.deepEqual(await queried(), []);
  });

  test('a public server may be asked directly, one of the LAN may not', async () => {
    const { seen } = await bench.inside(async ({ names, server, lan }) => [await resolve('good.test', 'A', names.v4), await resolve('good.test', 'A', server.v6), await resolve('good.test', 'A', lan.v4, { timeout: 300, tries: 1 })], { data: { names, server, lan } });
    assert.deepEqual(seen.slice(0, 2), [[server.v4], [server.v4]]);
    assert.match(seen[2], /ETIMEOUT|ECONNREFUSED/);
    assert.ok((await queried()).every(({ at }) => at !== lan.v4));
  });
});

describe('servers that lie or fail', () => {
  test('an answer with another id, or to another question, is not one', async () => {
    const { seen } = await bench.inside(async () => [await resolve('wrong-id.test'), await resolve('wrong-question.test'), await resolve('wrong-id.test', 'AAAA')]);
    assert.deepEqual(seen, [[server.v4], [server.v4], [server.v6]]);
  });

  test('records that nobody asked for open nothing', async () => {
    const { seen } = await bench.inside(async () => [await resolve('forged.test'), await dial('93.184.216.66', 80), await lookup('unasked.test')], { network: 'allow:forged.test,unasked.test' });
    assert.deepEqual(seen.slice(1), ['ECONNREFUSED', 'ENOTFOUND']);
  });

  test('garbage is not passed on, and the next answer is right', async () => {
    const { seen } = await bench.inside(async () => [await resolve('malformed.test', 'A', undefined, { timeout: 5_000, tries: 1 }), await resolve('good.test')]);
    assert.match(String(seen[0]), /^E[A-Z]+$/);
    assert.deepEqual(seen[1], [server.v4]);
  });

  test('while one answer is late the others come', async () => {
    await bench.lab.reset();
    const late = inside(bench.server, () => Promise.all([resolve('late.test', 'A', undefined, { timeout: 8_000, tries: 1 }), ...Array.from({ length: 20 }, () => resolve('good.test'))]));
    await until('all queries to arrive', async () => (await queried()).length >= 21);
    await bench.lab.world.ask('release');
    assert.deepEqual((await late).seen, Array(21).fill([server.v4]));
  });

  test('where one server is not there the next is asked, and IPv6 will do', async (t) => {
    t.after(() => bench.lab.setNameServers(names.v4));
    for (const list of [[addresses.unreachable.v4, names.v4], [names.v6], [addresses.unreachable.v6, names.v6]]) {
      bench.lab.setNameServers(...list);
      const server_ = await bench.serve(t);
      await bench.lab.reset();
      const { seen } = await inside(server_, () => resolve('good.test', 'A', undefined, { timeout: 8_000, tries: 1 }));
      assert.deepEqual(seen, [server.v4], list.join());
      assert.deepEqual([...new Set((await queried()).map(({ at }) => at))], [list.at(-1)]);
    }
  });

  test('a change of the host\'s resolv.conf is noticed', async (t) => {
    t.after(() => bench.lab.setNameServers(names.v4));
    const server_ = await bench.serve(t);
    assert.deepEqual((await inside(server_, () => resolve('good.test'))).seen, [server.v4]);
    bench.lab.setNameServers(names.v6);
    await bench.lab.reset();
    await until('the new server to be asked', async () => {
      await inside(server_, () => resolve('good.test'));
      return (await queried()).some(({ at }) => at === names.v6);
    });
  });
});

describe('allow', () => {
  const network = 'allow:good.test,*.good.test';

  test('names that are not on the list do not exist, and nobody is asked', async () => {
    const others = ['other.test', 'test', 'xgood.test', 'good.test.other.test', 'good-test', 'good.tes', 'ood.test', 'good.test.evil', 'metadata.google.internal', 'secret-data.tunnel.test', 'xn--good-test.test', '34.216.184.93.in-addr.arpa', 'localhost.other.test'];
    const { seen } = await bench.inside(async (others) => ({ library: await outcomes(Object.fromEntries(others.map((name) => [name, lookup(name)]))), a: await outcomes(Object.fromEntries(others.map((name) => [name, resolve(name)]))), text: await outcomes(Object.fromEntries(others.map((name) => [name, resolve(name, 'TXT')]))) }), { network, data: others });
    for (const kind of Object.keys(seen)) assert.deepEqual(seen[kind], Object.fromEntries(others.map((name) => [name, 'ENOTFOUND'])), kind);
    assert.deepEqual(await queried(), []);
  });

  test('the list does not care for capitals or a dot at the end', async () => {
    const { seen } = await bench.inside(async () => [await resolve('GOOD.TEST'), await lookup('Good.Test.', { family: 4 }), await resolve('SUB.good.test')], { network: 'allow:Good.TEST.,*.GOOD.test' });
    assert.deepEqual(seen, [[server.v4], [server.v4], [server.v4]]);
  });

  test('an alias of an allowed name counts as that name, wherever it leads in public', async () => {
    const { seen } = await bench.inside(async () => [await dial('alias.good.test', 80, { family: 4 }), await dial('alias.good.test', 80, { family: 6 }), await dial('trap.good.test', 80, { family: 4 }), await lookup('other.test'), await resolve('round.good.test')], { network });
    assert.deepEqual(seen.slice(0, 2), ['connected', 'connected']);
    assert.match(seen[2], /ECONNREFUSED|ENOTFOUND/);
    assert.equal(seen[3], 'ENOTFOUND');
    assert.ok(!Array.isArray(seen[4]) || seen[4].length === 0, 'a name that leads to itself leads nowhere');
    assert.ok((await bench.lab.log()).connections.every(({ to }) => Object.values(server).includes(to)));
  });

  // Half a minute is what programs get beyond the time that an answer holds. Whoever runs belljar makes no difference.
  if (process.env.LAB_MODE !== 'rootless') {
    test('an address is in reach only as long as the answer holds that led there; what is open stays so', async () => {
      const { seen, network: report } = await bench.inside(async () => {
        const [brief] = await resolve('brief.good.test');
        const [control] = await resolve('good.test', 'AAAA');
        const open = net.connect(7, brief);
        const greeting = await new Promise((done) => open.on('data', (bytes) => done(String(bytes))).write('hello'));
        const end = Date.now() + 90_000;
        let later;
        while ((later = await dial(brief, 7)) === 'connected' && Date.now() < end) await new Promise((next) => setTimeout(next, 200));
        const answer = await new Promise((done) => open.on('data', (bytes) => done(String(bytes))).write('still here'));
        const other = await dial(control, 7);
        await resolve('brief.good.test');
        return { brief, greeting, later, answer, other, again: await dial(brief, 7) };
      }, { network: 'allow:brief.good.test:7,good.test:7', timeoutMs: 110_000 });
      assert.deepEqual(seen, { brief: server.v4, greeting: 'hello', later: 'ECONNREFUSED', answer: 'still here', other: 'connected', again: 'connected' });
      assert.deepEqual(report.filter(({ verdict }) => verdict === 'blocked'), [{ host: server.v4, port: 7, verdict: 'blocked', bytes: 0 }]);
    });
  }

  test('no other server can be asked, by UDP or TCP', async () => {
    const { seen } = await bench.inside(async (servers) => Promise.all(servers.flatMap((server) => [resolve('tunnel.good.test', 'TXT', server, { timeout: 300, tries: 1 }), dial(server, 53)])), { network, data: [names.v4, names.v6, server.v4, server.v6, lan.v4] });
    for (const outcome of seen) assert.match(String(outcome), /^(ETIMEOUT|ECONNREFUSED)$/);
    assert.deepEqual(await queried(), []);
  });

  test('the server is the same over TCP', async () => {
    const { seen } = await bench.inside((queries) => Promise.all(queries.map((query) => new Promise((resolve) => {
      const bytes = Buffer.from(query, 'base64');
      const socket = net.connect(53, '10.0.2.3');
      let answer = Buffer.alloc(0);
      socket.on('error', (error) => resolve(error.code));
      socket.on('data', (part) => {
        answer = Buffer.concat([answer, part]);
        if (answer.length > 2 && answer.length >= 2 + answer.readUInt16BE()) resolve(answer.subarray(2).toString('base64')) ?? socket.destroy();
      });
      socket.write(Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 255]), bytes]));
    }))), { network, data: ['good.test', 'other.test'].map((name, id) => base64(encodeQuery({ id, name }))) });
    const [good, other] = seen.map((answer) => decode(Buffer.from(answer, 'base64')));
    assert.deepEqual([good.id, good.answers.map(({ data }) => data), other.id, other.code], [0, [server.v4], 1, 'NXDOMAIN']);
    assert.ok((await queried()).every(({ name }) => name === 'good.test'));
  });
});

describe('queries that no resolver sends', () => {
  const header = (flags, questions) => Buffer.from([0, 7, flags >> 8, flags & 255, 0, questions, 0, 0, 0, 0, 0, 0]);
  const good = encodeName('good.test');
  const oddities = {
    'nothing': Buffer.alloc(0), 'one byte': Buffer.from([0]), 'a header': header(0x0100, 1), 'no question': header(0x0100, 0), 'two questions': Buffer.concat([header(0x0100, 2), good, Buffer.from([0, 1, 0, 1]), good, Buffer.from([0, 1, 0, 1])]),
    'a name that points to itself': Buffer.concat([header(0x0100, 1), Buffer.from([0xc0, 12, 0, 1, 0, 1])]), 'a label without an end': Buffer.concat([header(0x0100, 1), Buffer.from([63, 65])]), 'a label of a kind there is not': Buffer.concat([header(0x0100, 1), Buffer.from([0x80, 65, 0, 0, 1, 0, 1])]),
    'a name of 300 bytes': Buffer.concat([header(0x0100, 1), Buffer.concat(Array(75).fill(Buffer.from([3, 97, 97, 97]))), Buffer.from([0, 0, 1, 0, 1])]), 'an answer': Buffer.concat([header(0x8180, 1), good, Buffer.from([0, 1, 0, 1])]), 'an update': Buffer.concat([header(0x2800, 1), good, Buffer.from([0, 1, 0, 1])]),
    'a transfer': encodeQuery({ id: 7, name: 'good.test', type: 'AXFR' }), 'another class': encodeQuery({ id: 7, name: 'good.test', class_: 3 }), 'noise': Buffer.from(Array.from({ length: 500 }, (_, n) => (n * 167 + 13) & 255)), 'dots and zeros in a label': Buffer.concat([header(0x0100, 1), Buffer.from([9]), Buffer.from('good.test'), Buffer.from([0, 0, 1, 0, 1])]),
    'a name with a zero byte': Buffer.concat([header(0x0100, 1), Buffer.from([5, 103, 111, 0, 111, 100, 4]), Buffer.from('test'), Buffer.from([0, 0, 1, 0, 1])]),
  };

  for (const network of ['internet', 'allow:good.test']) {
    test(`${network}: none of them leaves as it came, and the server works on`, async () => {
      const control = base64(encodeQuery({ id: 4242, name: 'good.test' }));
      const { seen } = await bench.inside(async ({ queries, control }) => {
        const answers = {};
        for (const [name, query] of Object.entries(queries)) answers[name] = await rawQuery(query, { control });
        return { answers, after: await resolve('good.test') };
      }, { network, data: { queries: Object.fromEntries(Object.entries(oddities).map(([name, query]) => [name, base64(query)])), control } });
      assert.deepEqual(seen.after, [server.v4]);
      for (const [name, answer] of Object.entries(seen.answers)) {
        if (answer === '' || answer === 'timeout') assert.equal(answer, '', name);
        else assert.notEqual(Buffer.from(answer, 'base64')[3] & 15, 0, `${name} has no answer without an error`);
      }
      assert.deepEqual(new Set((await queried()).map(({ name, type }) => `${name} ${type}`)), new Set(['good.test A']));
    });
  }
});
