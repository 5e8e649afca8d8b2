// Who says what a sandbox may reach: the operator the usual and the most, a call no more than that.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { cli } from '../e2e/lib/belljar.mjs';
import { inside, openBench } from './lib/bench.mjs';

const bench = openBench();
const reach = async () => outcomes({ public: dial('93.184.216.34', 80), lan: dial('10.1.2.3', 80), host: dial('10.0.2.2', 7778), name: dial('good.test', 80), other: dial('other.test', 80) });
const [yes, no] = ['connected', 'ECONNREFUSED'];
const internet = { public: yes, lan: no, host: no, name: yes, other: yes };
const goodOnly = { public: no, lan: no, host: no, name: yes, other: 'ENOTFOUND' };
const everything = { public: yes, lan: yes, host: yes, name: yes, other: yes };

// What the sandbox reaches. The address of an allowed name may be dialled once the name was looked up, which is no matter here.
async function reached(server, args = {}) {
  const { seen } = await inside(server, reach, args);
  return seen.other === 'ENOTFOUND' ? { ...seen, public: no } : seen;
}
const nothing = (seen) => Object.values(seen).every((outcome) => outcome !== 'connected');
const belljar = (args, env = {}) => cli(args, { env: { ...bench.lab.environment(), ...env } });

describe('the usual policy', () => {
  test('is internet', async (t) => {
    assert.deepEqual(await reached(await bench.serve(t)), internet);
  });

  test('can be set by a flag, a variable and a line of the file, in this order of precedence', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'belljar-ceiling-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const config = join(directory, 'belljar.toml');
    const { chmodSync } = await import('node:fs');
    chmodSync(directory, 0o755);
    writeFileSync(config, 'network = "allow:good.test"\n', { mode: 0o644 });
    assert.deepEqual(await reached(await bench.serve(t, { BELLJAR_CONFIG: config })), goodOnly);
    assert.deepEqual(await reached(await bench.serve(t, { BELLJAR_CONFIG: config, BELLJAR_NETWORK: 'internet' })), internet);
    assert.ok(nothing(await reached(await bench.serve(t, { BELLJAR_CONFIG: config, BELLJAR_NETWORK: 'internet' }, ['mcp', '--network', 'none']))));
  });

  test('is never more than the most', async (t) => {
    assert.ok(nothing(await reached(await bench.serve(t, { BELLJAR_MAX_NETWORK: 'none' }))));
    assert.deepEqual(await reached(await bench.serve(t, { BELLJAR_NETWORK: 'internet', BELLJAR_MAX_NETWORK: 'allow:good.test' })), goodOnly);
  });

  test('may be host, if the operator says so', async (t) => {
    assert.deepEqual(await reached(await bench.serve(t, { BELLJAR_NETWORK: 'host' })), everything);
  });
});

describe('a call', () => {
  const refusedBy = async (server, network) => {
    for (const result of [await server.run('console.log(1)', { network }), await server.call('sandbox_initialize', { network })]) {
      assert.equal(result.isError, true, `${network}: ${result.text}`);
      assert.match(result.text, /network/);
    }
    return (await server.run('1', { network })).text;
  };

  test('may ask for less', async (t) => {
    const server = await bench.serve(t);
    assert.ok(nothing(await reached(server, { network: 'none' })));
    assert.deepEqual(await reached(server, { network: 'allow:good.test' }), goodOnly);
    assert.ok(nothing(await reached(server, { network: 'allow:' })));
  });

  test('may not ask for more than the usual policy, unless the operator allows it', async (t) => {
    const server = await bench.serve(t, { BELLJAR_NETWORK: 'allow:good.test,*.good.test:8080' });
    for (const network of ['internet', 'host', 'allow:other.test', 'allow:good.test:8080', 'allow:good.test,other.test', 'allow:*.good.test', 'allow:93.184.216.34']) {
      assert.match(await refusedBy(server, network), /allow:good\.test/, `${network}: the error says what the most is`);
    }
    for (const network of ['none', 'allow:', 'allow:good.test', 'allow:good.test:443', 'allow:sub.good.test:8080', 'allow:*.sub.good.test:8080']) assert.ok(!(await server.run('1', { network })).isError, network);
  });

  test('may ask for what the operator allows beyond the usual policy', async (t) => {
    const server = await bench.serve(t, { BELLJAR_NETWORK: 'none', BELLJAR_MAX_NETWORK: 'internet' });
    assert.ok(nothing(await reached(server)));
    assert.deepEqual(await reached(server, { network: 'internet' }), internet);
    await refusedBy(server, 'host');
    await refusedBy(server, 'allow:10.1.2.3');
    const flags = await bench.serve(t, {}, ['mcp', '--network', 'none', '--max-network', 'host']);
    assert.deepEqual(await reached(flags, { network: 'host' }), everything);
  });

  test('of a sandbox without a network may ask for nothing', async (t) => {
    const server = await bench.serve(t, { BELLJAR_NETWORK: 'none' });
    await refusedBy(server, 'internet');
    await refusedBy(server, 'allow:good.test');
    assert.ok(nothing(await reached(server, { network: 'none' })));
  });

  test('with a policy that is none is told what there is', async (t) => {
    const server = await bench.serve(t, { BELLJAR_MAX_NETWORK: 'host' });
    for (const network of ['', 'all', 'Internet', 'none ', 'allow', 'deny:x', 'host,internet', 'allow:*']) assert.match(await refusedBy(server, network), /none.*internet.*allow:|allow:.*internet|internet/s, network);
    for (const network of [1, true, ['none'], { policy: 'none' }]) {
      const answer = await server.request('tools/call', { name: 'run_js_ephemeral', arguments: { code: '1', network } });
      assert.ok(answer.error || answer.result.isError, JSON.stringify(network));
    }
  });

  test('finds the argument in the list of tools', async () => {
    const { result } = await bench.server.request('tools/list');
    for (const name of ['run_js_ephemeral', 'sandbox_initialize']) {
      const { network } = result.tools.find((tool) => tool.name === name).inputSchema.properties;
      assert.equal(network.type, 'string', name);
      assert.match(network.description, /internet/);
    }
  });
});

describe('the command line', () => {
  test('belljar config shows both settings and where they come from', async () => {
    const { stdout, code } = await belljar(['config'], { BELLJAR_NETWORK: 'allow:good.test', BELLJAR_MAX_NETWORK: 'internet' });
    assert.equal(code, 0);
    assert.match(stdout, /^network\b.*allow:good\.test.*BELLJAR_NETWORK/m);
    assert.match(stdout, /^max-network\b.*internet.*BELLJAR_MAX_NETWORK/m);
  });

  for (const [name, env] of Object.entries({ 'that is none': { BELLJAR_NETWORK: 'everything' }, 'with a bad rule': { BELLJAR_NETWORK: 'allow:good.test:port' }, 'for the most that is none': { BELLJAR_MAX_NETWORK: 'lots' } })) {
    test(`a policy ${name} is refused at the start`, async () => {
      const { code, stderr } = await belljar(['mcp'], env);
      assert.notEqual(code, 0);
      assert.match(stderr, /network/i);
    });
  }
});
