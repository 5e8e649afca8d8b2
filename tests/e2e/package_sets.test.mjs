// Sets of dependencies are installed once and mounted afterwards: exact, shared, bounded, and repaired when damaged.
import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { cli } from './lib/belljar.mjs';
import { connect, list } from './lib/packages_client.mjs';
import { startTinyRegistry } from './lib/tiny_registry.mjs';
import { until } from './lib/wait.mjs';

// A data directory of our own, with a Node.js and its npm: that of others has packages already, and must not be damaged.
const data = mkdtempSync(join(tmpdir(), 'belljar-sets-'));
after(() => rmSync(data, { recursive: true }));
let image;
before(async () => {
  const { stdout } = await cli(['runtime', 'list', '--json']);
  const { version, prefix } = JSON.parse(stdout).at(-1);
  const own = join(data, 'runtimes', version);
  mkdirSync(join(own, 'bin'), { recursive: true });
  cpSync(join(prefix, 'bin/node'), join(own, 'bin/node'));
  cpSync(join(prefix, 'lib/node_modules/npm'), join(own, 'lib/node_modules/npm'), { recursive: true });
  image = `node:${version}`;
});

const module_ = { type: 'module', main: 'index.js' };
const exporting = (value) => ({ 'index.js': `export default ${JSON.stringify(value)};\n` });
const show = (name) => `import value from '${name}'; console.log(value);`;
const store = join(data, 'packages');
const entries = (path) => readdirSync(join(store, path));

let registry;
before(async () => {
  registry = await startTinyRegistry();
  for (const version of ['1.0.0', '1.1.0']) registry.add({ name: 'leaf', version, manifest: module_, files: exporting(`leaf ${version}`) });
  registry.add({ name: 'tree', manifest: { ...module_, dependencies: { leaf: '^1.0.0' } }, files: { 'index.js': 'export { default } from "leaf";\n' } });
  registry.add({ name: 'other', manifest: module_, files: exporting('other') });
});
after(() => registry?.stop());
const environment = (more = {}) => ({ npm_config_registry: registry.url, BELLJAR_DATA_DIR: data, BELLJAR_IMAGE: image, BELLJAR_PACKAGES_MAX_AGE: '3600', ...more });
const asked = (part) => registry.requests.filter(({ url }) => url.includes(part)).length;

async function open(t, more = {}) {
  const client = await connect(environment(more));
  t.after(() => client.close());
  return client;
}
async function value(client, name, packages, more = {}) {
  const result = await client.run(show(name), packages, more);
  assert.equal(result.isError, false, result.text);
  return { ...result, value: result.stdout.trim() };
}

describe('a set', () => {
  test('is installed once, and found by the next run and by the next server', async (t) => {
    const client = await open(t);
    const first = await value(client, 'tree', { tree: '1' });
    assert.equal(first.value, 'leaf 1.1.0');
    assert.deepEqual([first.install.cached, first.install.packages], [false, 2]);
    registry.requests.length = 0;
    const second = await value(client, 'tree', { tree: '1' });
    assert.deepEqual([second.value, second.install.cached, second.install.packages], ['leaf 1.1.0', true, 2]);
    const third = await value(await open(t), 'tree', { tree: '1' });
    assert.deepEqual([third.value, third.install.cached], ['leaf 1.1.0', true]);
    assert.deepEqual(registry.requests, []);
  });

  test('that shares packages with another does not fetch them again', async (t) => {
    const client = await open(t);
    await value(client, 'leaf', { leaf: '1' });
    registry.requests.length = 0;
    const result = await value(client, 'leaf', { leaf: '1', other: '1' });
    assert.equal(result.install.packages, 2);
    assert.equal(asked('leaf'), 0);
  });

  test('that shares most packages with another shares their directories, too', async (t) => {
    const leaves = Array.from({ length: 8 }, (_, i) => `part-${i}`);
    for (const name of leaves) registry.add({ name, manifest: module_, files: exporting(name) });
    registry.add({ name: 'whole', manifest: { ...module_, dependencies: Object.fromEntries(leaves.map((name) => [name, '1'])) }, files: { 'index.js': 'export { default } from "part-7";\n' } });
    for (const name of ['first', 'second', 'third']) registry.add({ name, manifest: module_, files: exporting(name) });
    const client = await open(t);
    const look = (name) => `import value from '${name}'; import part from 'whole'; import fs from 'node:fs';
      fs.appendFileSync('node_modules/part-0/index.js', '// mine');
      fs.rmSync('node_modules/part-1', { recursive: true });
      console.log(value, part, fs.readdirSync('node_modules').filter((name) => !name.startsWith('.')).join(), fs.realpathSync('node_modules/part-7/index.js'));`;
    const others = leaves.filter((name) => name !== 'part-1');
    for (const name of ['first', 'second', 'third', 'second']) {
      const result = await client.run(look(name), { whole: '1', [name]: '1' });
      assert.equal(result.stdout, `${name} part-7 ${[...others, 'whole', name].sort()} /workspace/node_modules/part-7/index.js\n`, result.text);
    }
    // That of the first set, and what it shares with the others.
    assert.equal(entries('trees').length, 2);
    const own = entries('layers').flatMap((key) => (readdirSync(join(store, 'layers', key)).includes('node_modules') ? [readdirSync(join(store, 'layers', key, 'node_modules')).filter((name) => !name.startsWith('.')).join()] : []));
    assert.ok(own.includes('second') && own.includes('third') && !own.some((names) => names.includes('part-')), own.join(' '));
    const { code, stdout } = await cli(['packages', 'verify'], { env: environment() });
    assert.equal(code, 0, stdout);
  });

  test('that many want at once is installed once', async (t) => {
    registry.add({ name: 'popular', manifest: module_, files: exporting('popular') });
    const client = await open(t, { BELLJAR_MAX_SANDBOXES: '64' });
    registry.requests.length = 0;
    const results = await Promise.all(Array.from({ length: 32 }, () => value(client, 'popular', { popular: '1' })));
    assert.ok(results.every(({ value }) => value === 'popular'));
    assert.deepEqual([asked('/popular/-/'), asked('/popular')], [1, 2]);
  });

  test('that two servers want at once is the same', async (t) => {
    registry.add({ name: 'raced', manifest: module_, files: exporting('raced') });
    const servers = await Promise.all([open(t), open(t)]);
    const results = await Promise.all(servers.flatMap((client) => [1, 2].map(() => value(client, 'raced', { raced: '1' }))));
    assert.ok(results.every(({ value }) => value === 'raced'));
    assert.equal(asked('/raced/-/'), 1);
    assert.equal(new Set(results.map(({ install }) => install.lockfile.uri)).size, 1);
  });

  test('can be changed by a program, for itself only', async (t) => {
    const client = await open(t);
    const code = `import fs from 'node:fs';
      fs.appendFileSync('node_modules/leaf/index.js', '// changed');
      fs.writeFileSync('node_modules/leaf/new.js', '1');
      fs.mkdirSync('node_modules/mine');
      fs.rmSync('node_modules/tree', { recursive: true });
      console.log(fs.readdirSync('node_modules').filter((name) => !name.startsWith('.')).join(), fs.readFileSync('node_modules/leaf/index.js', 'utf8').endsWith('// changed'));`;
    assert.equal((await client.run(code, { tree: '1' })).stdout, 'leaf,mine true\n');
    const look = `import fs from 'node:fs'; console.log(fs.readdirSync('node_modules').filter((name) => !name.startsWith('.')).join(), fs.readdirSync('node_modules/leaf').join(), fs.readFileSync('node_modules/leaf/index.js', 'utf8').includes('changed'));`;
    assert.equal((await client.run(look, { tree: '1' })).stdout, 'leaf,tree index.js,package.json false\n');
  });

  test('with a package that only npm understands is resolved by npm', async (t) => {
    const files = { ...exporting('outer'), 'node_modules/inner/package.json': '{"name":"inner","version":"1.0.0","main":"index.js"}', 'node_modules/inner/index.js': 'module.exports = "inner"' };
    registry.add({ name: 'bundle', manifest: { ...module_, dependencies: { inner: '*' }, bundleDependencies: ['inner'] }, files: { ...files, 'index.js': 'export { default } from "inner";\n' } });
    assert.equal((await value(await open(t), 'bundle', { bundle: '1' })).value, 'inner');
  });

  test('that is older than packages-max-age is resolved again; what cannot be asked for stays', async (t) => {
    registry.add({ name: 'moving', version: '1.0.0', manifest: module_, files: exporting('1.0.0') });
    assert.equal((await value(await open(t), 'moving', { moving: '1' })).value, '1.0.0');
    registry.add({ name: 'moving', version: '1.0.1', manifest: module_, files: exporting('1.0.1') });
    assert.equal((await value(await open(t), 'moving', { moving: '1' })).value, '1.0.0', 'it is young');
    const impatient = await open(t, { BELLJAR_PACKAGES_MAX_AGE: '0' });
    assert.equal((await value(impatient, 'moving', { moving: '1' })).value, '1.0.1');
    registry.answer = (request, response) => (response.writeHead(503).end(), true);
    t.after(() => (registry.answer = () => false));
    const late = await value(impatient, 'moving', { moving: '1' });
    assert.deepEqual([late.value, late.install.cached], ['1.0.1', true]);
    assert.match(late.telemetry.installOutput, /warning: these are the versions of the last installation.*503/s);
  });
});

describe('a lockfile', () => {
  test('brings exactly the same packages again, by its name and by its text', async (t) => {
    registry.add({ name: 'drifting', version: '1.0.0', manifest: module_, files: exporting('1.0.0') });
    const client = await open(t, { BELLJAR_PACKAGES_MAX_AGE: '0' });
    const { install } = await value(client, 'drifting', { drifting: '1' });
    const { contents: [{ text, mimeType }] } = await client.read(install.lockfile.uri);
    assert.equal(mimeType, 'application/json');
    assert.equal(JSON.parse(text).packages['node_modules/drifting'].version, '1.0.0');
    assert.ok(!text.includes(new URL(registry.url).host));
    registry.add({ name: 'drifting', version: '1.0.1', manifest: module_, files: exporting('1.0.1') });
    assert.equal((await value(client, 'drifting', { drifting: '1' })).value, '1.0.1');
    for (const lockfile of [install.lockfile.uri, text]) {
      const again = await value(client, 'drifting', {}, { lockfile });
      assert.deepEqual([again.value, again.install.lockfile.uri], ['1.0.0', install.lockfile.uri]);
      assert.equal((await value(client, 'drifting', { drifting: '1' }, { lockfile })).value, '1.0.0');
    }
  });

  test('that is wrong is told of', async (t) => {
    const client = await open(t);
    const { install } = await value(client, 'leaf', { leaf: '1' });
    for (const [args, expected] of [
      [{ lockfile: '{' }, /lockfile/],
      [{ lockfile: 'belljar://lockfiles/' + '0'.repeat(64) }, /not kept here any more/],
      [{ lockfile: 'belljar://lockfiles/../../../etc/passwd' }, /not kept here any more/],
      [{ lockfile: JSON.stringify({ lockfileVersion: 3, packages: { '': {}, '../x': { version: '1.0.0', integrity: 'sha512-AAAA' } } }) }, /lockfile/],
      [{ lockfile: JSON.stringify({ lockfileVersion: 3, packages: { '': {}, 'node_modules/x': { link: true, resolved: '/etc' } } }) }, /lockfile/],
      [{ lockfile: install.lockfile.uri, dependencies: list({ other: '1' }) }, /"lockfile" is not of these dependencies: other 1/],
    ]) {
      const result = await client.call('run_js_ephemeral', { code: '1', ...args });
      assert.equal(result.isError, true, JSON.stringify(args));
      assert.match(result.text, expected);
    }
    await assert.rejects(client.read('belljar://lockfiles/x'));
  });
});

describe('the operator', () => {
  test('can be offline: what is there works, and what is missing is named', async (t) => {
    await value(await open(t), 'leaf', { leaf: '1' });
    registry.requests.length = 0;
    const client = await open(t, { BELLJAR_OFFLINE: 'yes', BELLJAR_PACKAGES_MAX_AGE: '0' });
    assert.equal((await value(client, 'leaf', { leaf: '1' })).value, 'leaf 1.1.0');
    assert.equal((await value(client, 'leaf', { leaf: '1.1.0' })).value, 'leaf 1.1.0', 'a new set of what is there');
    for (const [packages, expected] of [[{ unknown: '1' }, /unknown is not among the packages that are kept here, and belljar is offline/], [{ leaf: '1.0.0' }, /leaf 1\.0\.0/]]) {
      const result = await client.run('1', packages);
      assert.equal(result.isError, true);
      assert.match(result.text, expected);
    }
    assert.deepEqual(registry.requests, []);
  });

  test('can deny packages, in a lockfile, too', async (t) => {
    const { install } = await value(await open(t), 'tree', { tree: '1' });
    const client = await open(t, { BELLJAR_PACKAGES_DENY: 'unwanted,leaf' });
    for (const args of [{ dependencies: list({ tree: '1' }) }, { lockfile: install.lockfile.uri }]) {
      const result = await client.call('run_js_ephemeral', { code: '1', ...args });
      assert.equal(result.isError, true);
      assert.match(result.text, /leaf/);
      assert.match(result.text, /must not be installed|does not allow/);
    }
    assert.equal((await value(client, 'other', { other: '1' })).value, 'other');
  });

  test('can demand an age of versions', async (t) => {
    for (const version of ['1.0.0', '1.1.0']) registry.add({ name: 'aged', version, manifest: module_, files: exporting(version) });
    const now = Date.now();
    registry.documents.get('/aged').time = { '1.0.0': new Date(now - 3 * 86_400_000).toISOString(), '1.1.0': new Date(now - 3_600_000).toISOString() };
    assert.equal((await value(await open(t), 'aged', { aged: '1' })).value, '1.1.0');
    const careful = await open(t, { BELLJAR_PACKAGES_MIN_AGE: '86400' });
    assert.equal((await value(careful, 'aged', { aged: '1' })).value, '1.0.0');
    const result = await careful.run('1', { aged: '1.1.0' });
    assert.equal(result.isError, true);
    assert.match(result.text, /no version of aged fits "1\.1\.0" that is old enough/);
  });

  test('sees, adds, checks and removes sets', async () => {
    const env = environment();
    const belljar = async (...args) => {
      const { code, stdout, stderr } = await cli(['packages', ...args], { env });
      return { code, text: stdout + stderr, stdout };
    };
    registry.add({ name: 'handmade', manifest: module_, files: exporting('handmade') });
    assert.match((await belljar('add', 'handmade@1')).text, /was installed for Node\.js \d+: 1 packages/);
    assert.match((await belljar('add', 'handmade@1')).text, /was there already/);
    const { sets, diskBytes } = JSON.parse((await belljar('list', '--json')).stdout);
    const set = sets.find(({ dependencies }) => dependencies.handmade === '1');
    assert.deepEqual([set.packages, set.inUse], [1, false]);
    assert.ok(diskBytes > 0);
    assert.match((await belljar('list')).text, new RegExp(`${set.key.slice(0, 12)}.*handmade@1`));
    assert.match((await belljar('verify', set.key)).text, /is as it was installed/);
    assert.match((await belljar('rm', set.key.slice(0, 12))).text, /was removed/);
    const again = await belljar('rm', set.key);
    assert.deepEqual([again.code, /there is no set/.test(again.text)], [1, true]);
    assert.match((await belljar('add', 'no-such-package')).text, /no package "no-such-package" in the registry/);
  });

  test('bounds what is kept: what is in use stays', async (t) => {
    const client = await open(t);
    const session = await client.session(t);
    await session.run(show('leaf'), { dependencies: list({ leaf: '1' }) });
    const { stdout } = await cli(['packages', 'prune', '--to', '0'], { env: environment() });
    assert.match(stdout, /sets and \d+ packages were removed/);
    assert.equal(entries('layers').length, 1);
    assert.equal((await session.run(show('leaf'))).stdout, 'leaf 1.1.0\n');
    await session.stop();
    await cli(['packages', 'prune', '--to', '0'], { env: environment() });
    assert.deepEqual([entries('layers'), entries('trees'), entries('contents')], [[], [], []]);
  });
});

describe('damage', () => {
  const files = (path, found = []) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      if (entry.isDirectory()) files(join(path, entry.name), found);
      else if (entry.isFile()) found.push(join(path, entry.name));
    }
    return found;
  };

  test('is found by the next server, and repaired', async (t) => {
    assert.equal((await value(await open(t), 'leaf', { leaf: '1' })).value, 'leaf 1.1.0');
    const file = files(join(store, 'layers')).find((path) => path.endsWith('node_modules/leaf/index.js'));
    const { atime, mtime, size } = statSync(file);
    writeFileSync(file, 'export default "evil";'.padEnd(size));
    utimesSync(file, atime, mtime);
    const result = await value(await open(t), 'leaf', { leaf: '1' });
    assert.deepEqual([result.value, result.install.cached], ['leaf 1.1.0', false]);
  });

  test('is shown by verify', async (t) => {
    assert.equal((await value(await open(t), 'leaf', { leaf: '1' })).value, 'leaf 1.1.0');
    const file = files(join(store, 'layers')).find((path) => path.endsWith('node_modules/leaf/index.js'));
    writeFileSync(file, 'x');
    const { code, stdout } = await cli(['packages', 'verify'], { env: environment() });
    assert.deepEqual([code, /is damaged, and will be built again/.test(stdout)], [1, true], stdout);
    assert.equal((await value(await open(t), 'leaf', { leaf: '1' })).value, 'leaf 1.1.0');
  });

  // Whatever else may be interrupted is in tests/faults: a process that is killed before any of its calls.
  for (const [index, [moment, part, hold]] of [
    ['asks for a document', '/interrupted', () => true],
    ['downloads', '/interrupted/-/', () => true],
    ['has half of a package', '/interrupted/-/', (response, bytes) => response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, bytes.length / 2))],
    ['has one of two packages', '/other-half/-/', () => true],
  ].entries()) {
    test(`of a server that is killed while it ${moment} is none: the next one removes what it left`, async (t) => {
      const name = `interrupted-${index}`;
      const wanted = part.replace('interrupted', name).replace('other-half', `other-half-${index}`);
      registry.add({ name: `other-half-${index}`, manifest: module_, files: exporting('other half') });
      registry.add({ name, manifest: { ...module_, dependencies: { [`other-half-${index}`]: '1' } }, files: exporting('interrupted') });
      const client = await connect(environment());
      registry.answer = ({ url }, response) => {
        if (!url.startsWith(wanted)) return false;
        hold(response, registry.tarballs.get(url));
        return true;
      };
      t.after(() => (registry.answer = () => false));
      const call = assert.rejects(client.run('1', { [name]: '1' }));
      await registry.asked(wanted);
      if (wanted.includes('other-half')) await until('the first package to be kept', () => entries('contents').some((id) => JSON.parse(readFileSync(join(store, 'contents', id, 'files/package.json'), 'utf8')).name === name));
      process.kill(client.pid, 'SIGKILL');
      await call;
      await client.close();
      registry.answer = () => false;
      const layers = entries('layers').length;
      const { code, stdout } = await cli(['packages', 'verify'], { env: environment() });
      assert.equal(code, 0, stdout);
      assert.equal((await value(await open(t), name, { [name]: '1' })).value, 'interrupted');
      assert.equal(entries('layers').length, layers + 1);
      await until('what was left to be removed', () => entries('tmp').length <= 1);
    });
  }
});

test('in a session two runs at once both have their packages', async (t) => {
  const client = await open(t);
  const session = await client.session(t);
  for (let i = 0; i < 3; i++) {
    const results = await Promise.all(['leaf', 'other', 'tree'].map((name) => session.run(show(name), { dependencies: list({ [name]: '1' }) })));
    assert.deepEqual(results.map(({ stdout }) => stdout), ['leaf 1.1.0\n', 'other\n', 'leaf 1.1.0\n']);
  }
});

test('in a session npm knows what is there', async (t) => {
  const client = await open(t);
  const session = await client.session(t);
  await session.run(show('tree'), { dependencies: list({ tree: '1' }) });
  await session.run(show('other'), { dependencies: list({ other: '1' }) });
  const { text } = await session.exec('npm ls --depth=0 --json');
  const { dependencies, problems } = JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1));
  assert.deepEqual([Object.keys(dependencies), problems], [['other', 'tree'], undefined]);
  // What the session has made of its package.json stays.
  await session.exec(`echo '{"type":"module","name":"mine"}' > package.json`);
  await session.run(show('leaf'), { dependencies: list({ leaf: '1' }) });
  assert.match((await session.exec('cat package.json')).text, /"mine"/);
  assert.ok(readFileSync(join(store, 'layers', entries('layers')[0], 'package-lock.json'), 'utf8').includes('lockfileVersion'));
});
