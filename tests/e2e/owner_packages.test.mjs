// `belljar serve` with packages-per-owner: what one owner has installed is nothing to the others.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, before, describe, test } from 'node:test';

import { cli } from './lib/belljar.mjs';
import { call, message, rpc, serve, tokenOf, tokens } from './lib/http.mjs';
import { startTinyRegistry } from './lib/tiny_registry.mjs';
import { until } from './lib/wait.mjs';

const alice = tokenOf('alice');
const bob = tokenOf('bob');
const exporting = (value) => ({ 'index.js': `module.exports = '${value}';` });

let registry;
before(async () => {
  registry = await startTinyRegistry();
});
after(() => registry?.stop());

const environment = (more = {}) => ({ npm_config_registry: registry.url, BELLJAR_PACKAGES_MAX_AGE: '3600', ...more });
const start = (t, args, more) => serve(t, { args, toml: tokens('alice', 'bob'), env: environment(more) });
const run = async (server, token, name, more = {}) => {
  const result = await call(server, token, 'run_js_ephemeral', { code: `import value from '${name}'; console.log(value);`, dependencies: [{ name, version: '1' }], ...more });
  return { ...result.structuredContent, text: result.text, isError: result.isError };
};
const packages = (...args) => cli(['packages', ...args], { env: environment() });
const sets = async (owner) => JSON.parse((await packages('list', '--json', ...(owner ? ['--owner', owner] : []))).stdout).sets.map(({ dependencies }) => Object.keys(dependencies).join()).sort();

// What the registry was asked for meanwhile, but for names that somebody may have meant.
async function asked(work) {
  const before = registry.requests.length;
  const result = await work();
  return { result, urls: registry.requests.slice(before).map(({ url }) => url).filter((url) => !url.startsWith('/-/')) };
}

test('without it, packages that one owner has installed are there for the next', async (t) => {
  registry.add({ name: 'common', files: exporting('common') });
  const server = await start(t, []);
  assert.equal((await run(server, alice, 'common')).stdout, 'common\n');
  const { result, urls } = await asked(() => run(server, bob, 'common'));
  assert.deepEqual([result.stdout, result.install.cached, urls], ['common\n', true, []]);
});

describe('with it', () => {
  test('the second owner asks the registry for what the first one has, and gets it only from there', async (t) => {
    registry.add({ name: 'secret', files: exporting('secret') });
    const server = await start(t, ['--packages-per-owner']);
    const first = await run(server, alice, 'secret');
    assert.equal(first.stdout, 'secret\n', first.text);

    registry.answer = (_, response) => response.writeHead(404).end('{}');
    const refused = await asked(() => run(server, bob, 'secret'));
    registry.answer = () => false;
    assert.equal(refused.result.isError, true);
    assert.match(refused.result.text, /no package "secret" in the registry/);
    assert.ok(refused.urls.includes('/secret'), 'the registry was asked');

    const second = await asked(() => run(server, bob, 'secret'));
    assert.equal(second.result.stdout, 'secret\n', second.result.text);
    assert.equal(second.result.install.cached, false);
    assert.deepEqual(second.urls, ['/secret', '/secret/-/1.0.0.tgz'], 'for the document and the package');
    for (const token of [alice, bob]) {
      const again = await asked(() => run(server, token, 'secret'));
      assert.deepEqual([again.result.install.cached, again.urls], [true, []]);
    }
  });

  test('the lockfile of one owner is not the other\'s to read or to use', async (t) => {
    registry.add({ name: 'locked', files: exporting('locked') });
    const server = await start(t, ['--packages-per-owner']);
    const { install: { lockfile: { uri } } } = await run(server, alice, 'locked');
    const read = async (token) => message(await rpc(server, token, 'resources/read', { uri }));
    assert.match((await read(alice)).result.contents[0].text, /node_modules\/locked/);
    assert.ok((await read(bob)).error, 'it is not there for others');
    assert.equal((await run(server, alice, 'locked', { dependencies: undefined, lockfile: uri })).stdout, 'locked\n');
    assert.equal((await run(server, bob, 'locked', { dependencies: undefined, lockfile: uri })).isError, true);
  });

  test('each has as much room as packages-disk says, and what is too much for one is not taken from another', async (t) => {
    for (const name of ['big-1', 'big-2', 'big-3']) registry.add({ name, files: { ...exporting(name), 'data.bin': randomBytes(700_000) } });
    const server = await start(t, ['--packages-per-owner'], { BELLJAR_PACKAGES_DISK: '1m' });
    assert.equal((await run(server, bob, 'big-1')).stdout, 'big-1\n');
    for (const name of ['big-2', 'big-3']) assert.equal((await run(server, alice, name)).stdout, `${name}\n`);
    await until('the older set of alice to go', async () => !(await sets('alice')).includes('big-2'));
    assert.ok((await sets('alice')).includes('big-3'));
    assert.ok((await sets('bob')).includes('big-1'));
  });

  test('`belljar packages --owner` is about those of one owner', async (t) => {
    for (const name of ['hers', 'his', 'added']) registry.add({ name, files: exporting(name) });
    const server = await start(t, ['--packages-per-owner']);
    await run(server, alice, 'hers');
    await run(server, bob, 'his');
    const mine = async (owner) => (await sets(owner)).filter((name) => ['hers', 'his', 'added'].includes(name));
    assert.deepEqual([await mine('alice'), await mine('bob'), await mine()], [['hers'], ['his'], []]);

    const { code, stderr } = await packages('add', '--owner', 'bob', 'added@1');
    assert.equal(code, 0, stderr);
    const { result, urls } = await asked(() => run(server, bob, 'added'));
    assert.deepEqual([result.stdout, result.install.cached, urls], ['added\n', true, []]);

    assert.equal((await packages('verify', '--owner', 'alice')).code, 0);
    assert.equal((await packages('prune', '--owner', 'alice', '--to', '0')).code, 0);
    assert.deepEqual([await mine('alice'), await mine('bob')], [[], ['added', 'his']]);
    for (const owner of ['alise', 'oauth:alice', '../alice']) {
      const wrong = await packages('list', '--owner', owner);
      assert.equal(wrong.code, 1, owner);
      assert.ok(wrong.stderr.includes(`no packages are kept for the owner "${owner}"`), wrong.stderr);
    }
  });
});
