// What a result, its text for the model, and the log say about the network.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { addresses, families, socketType } from './lib/addresses.mjs';
import { inside, openBench, session } from './lib/bench.mjs';
import { encodeQuery } from './lib/dns_message.mjs';

const bench = openBench();
const { public: server, lan, unreachable } = addresses;
const find = (network, host, port) => network.filter((entry) => entry.host === host && entry.port === port);

for (const family of families) {
  describe(`structuredContent.network, ${family}`, () => {
    const number = family === 'v4' ? 4 : 6;

    test('has a connection that was allowed, and how much passed', async () => {
      const { network } = await bench.inside((address) => ask(address, 7, 'x'.repeat(5000)), { data: server[family] });
      assert.deepEqual(network, [{ host: server[family], port: 7, verdict: 'allowed', bytes: 10_000 }]);
    });

    test('has the name, if the address came from a lookup', async () => {
      const { network } = await bench.inside((family) => new Promise((resolve) => net.connect({ host: 'good.test', port: 19, family }).on('close', resolve).resume()), { data: number });
      assert.deepEqual(network, [{ host: 'good.test', port: 19, verdict: 'allowed', bytes: `you asked for ${server[family]}`.length }]);
    });

    test('has what was blocked', async () => {
      const { network } = await bench.inside((address) => dial(address, 80), { data: lan[family] });
      assert.deepEqual(network, [{ host: lan[family], port: 80, verdict: 'blocked', bytes: 0 }]);
    });

    test('has what failed outside', async () => {
      const { network } = await bench.inside(async ([address, nowhere]) => [await dial(address, 81), await dial(nowhere, 80)], { data: [server[family], unreachable[family]] });
      assert.deepEqual(find(network, server[family], 81), [{ host: server[family], port: 81, verdict: 'failed', bytes: 0 }]);
      assert.equal(find(network, unreachable[family], 80)[0].verdict, 'failed');
    });

    test('has datagrams, allowed and blocked', async () => {
      const { network } = await bench.inside(({ kind, lan, server }) => datagrams(kind, [[lan, 7, 'lost'], [server, 7, '12345678']]), { data: { kind: socketType[family], lan: lan[family], server: server[family] } });
      assert.deepEqual(find(network, lan[family], 7), [{ host: lan[family], port: 7, verdict: 'blocked', bytes: 0 }]);
      assert.deepEqual(find(network, server[family], 7), [{ host: server[family], port: 7, verdict: 'allowed', bytes: 16 }]);
    });
  });
}

describe('structuredContent.network', () => {
  test('has a name that was refused, without a port', async () => {
    const { network } = await bench.inside(() => lookup('other.test'), { network: 'allow:good.test' });
    assert.deepEqual(network, [{ host: 'other.test', verdict: 'blocked', bytes: 0 }]);
  });

  test('is empty when nothing was tried, and with a lookup that was allowed', async () => {
    assert.deepEqual((await bench.inside(() => 0)).network, []);
    assert.deepEqual((await bench.inside(() => lookup('good.test'))).network, []);
    assert.deepEqual((await bench.inside(() => 0, { network: 'none' })).network ?? [], []);
  });

  test('has one entry for the same host, port and verdict, with the sum', async () => {
    const { network } = await bench.inside(async () => {
      for (let n = 0; n < 5; n += 1) await ask('93.184.216.34', 7, 'x'.repeat(100));
      for (let n = 0; n < 5; n += 1) await dial('10.1.2.3', 80);
    });
    assert.deepEqual(network, [{ host: '93.184.216.34', port: 7, verdict: 'allowed', bytes: 1000 }, { host: '10.1.2.3', port: 80, verdict: 'blocked', bytes: 0 }]);
  });

  test('stays short however much is tried', async () => {
    const { network, structuredContent } = await bench.inside(() => Promise.all(Array.from({ length: 2000 }, (_, n) => dial('10.9.8.7', n + 1))));
    assert.ok(network.length > 0 && network.length <= 1000, `${network.length} entries`);
    assert.ok(JSON.stringify(structuredContent.network).length < 100_000);
  });

  test('has what a program left open, up to now', async () => {
    const { network } = await bench.inside(() => new Promise((resolve) => net.connect(7, '93.184.216.34').on('data', resolve).write('12345')));
    assert.deepEqual(network, [{ host: '93.184.216.34', port: 7, verdict: 'allowed', bytes: 10 }]);
  });

  test('is about this run of a session, not about the one before', async (t) => {
    const id = await session(t, bench.server, { network: 'internet' });
    const first = await inside(bench.server, () => dial('10.1.2.3', 80), { in: id });
    const second = await inside(bench.server, () => dial('192.168.7.7', 80), { in: id });
    assert.deepEqual([first.network, second.network].map((list) => list.map(({ host }) => host)), [['10.1.2.3'], ['192.168.7.7']]);
  });

  test('of a shell command names what was blocked, and does not deny the network', async (t) => {
    const container_id = await session(t, bench.server);
    const command = `node -e 'fetch("http://10.1.2.3/").catch((error) => { throw error; })'`;
    const { isError, text } = await bench.server.call('sandbox_exec', { container_id, commands: [command] });
    assert.equal(isError, true);
    assert.match(text, /blocked: 10\.1\.2\.3:80; /);
    assert.doesNotMatch(text, /has no network/);
  });

  test('fits the schema that the tool has published', async () => {
    const { result } = await bench.server.request('tools/list');
    const { network } = result.tools.find(({ name }) => name === 'run_js_ephemeral').outputSchema.properties;
    assert.equal(network.type, 'array');
    assert.deepEqual(Object.keys(network.items.properties).sort(), ['bytes', 'host', 'port', 'verdict']);
    assert.ok(!(network.items.required ?? []).includes('port'));
  });
});

describe('the text of a program that failed', () => {
  const failing = (server, code, args) => server.run(`import net from 'node:net';\n${code}`, args);

  test('names what was blocked and how the operator can allow it', async (t) => {
    const ordinary = await bench.serve(t);
    const { isError, text } = await failing(ordinary, "await fetch('http://10.1.2.3/')");
    assert.equal(isError, true);
    assert.match(text, /blocked: 10\.1\.2\.3:80; the operator can allow it with .*allow:10\.1\.2\.3:80/);
    const six = await failing(ordinary, "await fetch('http://[fd12::7]:8080/')");
    assert.match(six.text, /blocked: \[fd12::7\]:8080; the operator can allow it with .*allow:\[fd12::7\]:8080/);
  });

  test('names a host by its name', async (t) => {
    const strict = await bench.serve(t, { BELLJAR_NETWORK: 'allow:good.test' });
    const refused = await failing(strict, "await fetch('https://other.test/')");
    assert.match(refused.text, /blocked: other\.test; the operator can allow it with .*allow:.*other\.test/);
    const port = await failing(strict, "await fetch('http://good.test:8080/')");
    assert.match(port.text, /blocked: good\.test:8080; the operator can allow it with .*good\.test:8080/);
  });

  test('says what the call itself may ask for', async (t) => {
    const refused = await failing(bench.server, "await fetch('https://other.test/')", { network: 'allow:good.test' });
    assert.match(refused.text, /blocked: other\.test; this call may ask for it with "network": ".*other\.test/);
    const id = await session(t, bench.server, { network: 'allow:good.test' });
    const { text } = await bench.server.call('run_js', { container_id: id, code: "await fetch('https://other.test/')" });
    assert.match(text, /blocked: other\.test; .*"network": ".*other\.test/);
  });

  test('what it tells the client to ask for is enough in the end', async () => {
    const tried = [];
    let result;
    for (let network = 'allow:other.test'; network !== undefined && tried.length < 5; network = /"network": "(allow:[^"]*)"/.exec(result.text)?.[1]) {
      result = await failing(bench.server, "await fetch('http://good.test:8080/')", { network });
      tried.push(network);
    }
    assert.deepEqual(tried, ['allow:other.test', 'allow:good.test', 'allow:good.test:8080'], result.text);
    assert.ok(!result.isError, result.text);
  });

  test('says so with the network off, too', async () => {
    const { text } = await failing(bench.server, "await fetch('http://good.test/')", { network: 'none' });
    assert.match(text, /no network/);
  });

  test('says nothing of it when nothing was blocked', async () => {
    for (const code of ["throw new Error('other')", "await fetch('http://93.184.216.34/'); throw new Error('other')", "await fetch('http://93.184.216.34:81/')"]) assert.ok(!/blocked:/.test((await failing(bench.server, code)).text), code);
  });

  test('is not written when the program did well', async () => {
    const { isError, text } = await failing(bench.server, "await fetch('http://10.1.2.3/').catch(() => {}); console.log('done')");
    assert.ok(!isError);
    assert.ok(!/blocked:/.test(text), text);
  });

  test('names the limit, when there were too many connections at a time', async (t) => {
    const log = await bench.serve(t, { BELLJAR_LOG_LEVEL: 'info' });
    const tooMany = `const sockets = [];
      for (let n = 0; n < 129; n += 1) await new Promise((resolve, reject) => sockets.push(net.connect(7, '${server.v4}', resolve).on('error', reject)));`;
    const { isError, text, network } = await failing(log, tooMany);
    assert.equal(isError, true);
    assert.match(text, /refused: 93\.184\.216\.34:7; the limit of 128 connections at a time was reached\. /);
    assert.deepEqual(network, ['allowed', 'failed'].map((verdict) => ({ host: server.v4, port: 7, verdict, bytes: 0 })));
    await until('the line in the log', () => /refused: 93\.184\.216\.34:7; the limit of 128 /.test(log.stderr));
  });

  test('has only a few of many', async () => {
    const { text } = await failing(bench.server, "await Promise.all(Array.from({ length: 500 }, (_, n) => fetch(`http://10.1.${n >> 8}.${n & 255}/`).catch(() => {}))); throw new Error('end')");
    assert.match(text, /blocked: /);
    assert.ok(text.length < 8_000, `${text.length} characters`);
  });
});

test('the log has what was blocked, and no more of it than can be read', async (t) => {
  const server_ = await bench.serve(t, { BELLJAR_NETWORK: 'allow:good.test', BELLJAR_LOG_LEVEL: 'info' });
  await inside(server_, async () => [await dial('10.1.2.3', 80), await lookup('other.test')]);
  await until('both lines', () => /10\.1\.2\.3:80/.test(server_.stderr) && /other\.test/.test(server_.stderr));
  const before = server_.stderr.length;
  await inside(server_, () => Promise.all(Array.from({ length: 2000 }, (_, n) => dial('10.1.2.3', n + 1))));
  assert.ok(server_.stderr.length - before < 100_000, `${server_.stderr.length - before} characters`);
});

test('a name with bytes that mean something to a terminal or to JSON is shown without them', async () => {
  const { network, text } = await bench.inside(async (control) => {
    const label = Buffer.from('\x1b[31m"\\\n<b>', 'latin1');
    const query = Buffer.concat([Buffer.from([0, 9, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, label.length]), label, Buffer.from([4]), Buffer.from('test'), Buffer.from([0, 0, 1, 0, 1])]);
    return rawQuery(query.toString('base64'), { control });
  }, { network: 'allow:good.test', data: encodeQuery({ id: 10, name: 'other.test' }).toString('base64') });
  assert.ok(![...JSON.stringify(network), ...text].some((character) => character < ' ' && character !== '\n'), JSON.stringify(network));
});
