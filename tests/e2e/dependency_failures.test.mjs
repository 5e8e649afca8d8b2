// `dependencies` that cannot be installed: the first line says why and what to do, and nothing is left behind.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { npmProcesses } from './lib/proc.mjs';
import { startRegistry } from './lib/registry.mjs';
import { connect } from './lib/packages_client.mjs';
import { tarball } from './lib/tarball.mjs';
import { startTinyRegistry } from './lib/tiny_registry.mjs';
import { until, within } from './lib/wait.mjs';

const directory = mkdtempSync(`${tmpdir()}/belljar-failures-`);
after(() => rmSync(directory, { recursive: true }));

async function nothingIsLeft(client) {
  await until('npm to end', () => npmProcesses(client.pid).length === 0);
  assert.deepEqual((await client.call('sandbox_list', {})).sandboxes, []);
  assert.equal((await client.run('console.log("goes on")')).stdout, 'goes on\n');
}

// The first line of what a failed installation says.
async function failure(client, packages, args) {
  const result = await client.run('console.log("ran")', packages, args);
  assert.equal(result.isError, true, result.text);
  assert.doesNotMatch(result.text, /^ran$/m);
  const [line] = result.text.split('\n', 1);
  assert.ok(line.length > 0 && line.length <= 600, result.text);
  return line;
}

describe('with a registry of our own', () => {
  let registry;
  let client;
  before(async () => {
    registry = await startRegistry();
    client = await connect({ npm_config_userconfig: registry.npmrc(`${directory}/npmrc`) });
  });
  after(async () => {
    await client?.close();
    await registry?.stop();
  });

  for (const [what, [packages, expected, args]] of Object.entries({
    'a package that does not exist': [{ 'own-tpyes': '1' }, /no package "own-tpyes" in the registry; did you mean own-types\?/],
    'a package like which there is none': [{ 'qqqqqqqqqq': '1' }, /no package "qqqqqqqqqq" in the registry; check its spelling/],
    'a version that does not exist': [{ 'own-types': '9.9.9' }, /no version of own-types fits "9\.9\.9"; the newest is 1\.2\.3/],
    'a range that no version fits': [{ 'own-types': '>=7 <9' }, /no version of own-types fits ">=7 <9"; the newest is 1\.2\.3/],
    'a tag that does not exist': [{ 'own-types': 'nightly' }, /no version of own-types fits "nightly"; the newest is 1\.2\.3/],
    'packages that do not fit together': [
      { 'needs-old': '1', 'own-types': '1.2.3' },
      /ERESOLVE: needs-old@1\.0\.0 needs own-types@"1\.0\.0", but own-types@1\.2\.3 is what would be installed/],
    'a package for another system': [{ 'other-system': '1' }, /other-system 1\.0\.0 is not for this platform .*but for aix/],
  })) {
    test(`${what} is told in the first line`, async () => {
      assert.match(await failure(client, packages, args), expected);
    });
  }

  test('a private package needs a token, and the reason says so', async () => {
    const stranger = await connect({ npm_config_userconfig: registry.npmrc(`${directory}/no-token`, { token: false }) });
    try {
      const line = await failure(stranger, { '@private/x': '1' });
      assert.match(line, /refuses the package @private\/x.*~\/\.npmrc/);
      assert.ok(!line.includes(registry.token));
    } finally {
      await stranger.close();
    }
  });

  test('after all of that nothing is left', () => nothingIsLeft(client));

  for (const version of [
    'file:../x', 'file:/etc', './x', '../x', '/etc', '~/x', 'x.tgz', 'x.tar.gz', 'git+https://host/x.git', 'git+ssh://git@host/x', 'git://host/x',
    'github:a/b', 'a/b', 'http://host/x.tgz', 'https://host/x', 'npm:own-types@1', 'link:x', 'workspace:*', '-g', '--global', '--registry=x', '',
    ' ', '1.0.0 ; id', '$(id)', '`id`', '1.0.0\n', '1\0', '@latest', 'own-types@1', '*/../..', 'é', 'x'.repeat(1 << 20),
  ]) {
    const shown = version.length > 60 ? `${version.length} characters` : JSON.stringify(version);
    test(`the version ${shown} is refused by the name of the argument`, async () => {
      const dependencies = [{ name: 'no-types', version: '*' }, { name: 'own-types', version }];
      const result = await client.call('run_js_ephemeral', { code: '1', dependencies });
      assert.equal(result.isError, true, result.text);
      assert.ok(result.text.includes('argument "dependencies[1].version" '), result.text.slice(0, 300));
      assert.ok(result.text.length < 600);
    });
  }

  for (const name of [
    '--prefix=/', '-g', ';id', 'a b', '../../x', '.', '..', '/', '/etc', 'a/b', '@a', '@a/', '@/b', '@a/../b', '@a/b/c', 'a@1', 'npm:a', 'file:x', 'x.tgz', '',
    'A\0', 'a\n', '$(id)', '%2e%2e', 'a%2fb', 'node_modules', 'favicon.ico', '__proto__', 'é', '_x', '.x', 'a'.repeat(215), 'a'.repeat(1 << 20),
  ]) {
    const shown = name.length > 60 ? `${name.length} characters` : JSON.stringify(name);
    test(`IJ06 the name ${shown} is refused by the name of the argument`, async () => {
      const result = await client.call('run_js_ephemeral', { code: '1', dependencies: [{ name, version: '1' }] });
      assert.equal(result.isError, true, result.text);
      assert.ok(result.text.includes('argument "dependencies[0].name" '), result.text.slice(0, 300));
      assert.ok(result.text.length < 600);
    });
  }

  test('other shapes of the argument are refused, too', async () => {
    for (const dependencies of [
      'own-types', { 'own-types': '1' }, ['own-types'], [['own-types', '1']], [null], [{}], [{ name: 'own-types' }], [{ version: '1' }],
      [{ name: 'own-types', version: 1 }], [{ name: 'own-types', version: null }], [{ name: 'a', version: '1' }, { name: 'a', version: '2' }],
      Array.from({ length: 101 }, (_, i) => ({ name: `p${i}`, version: '1' })),
    ]) {
      const result = await client.call('run_js_ephemeral', { code: '1', dependencies });
      assert.equal(result.isError, true, JSON.stringify(dependencies));
      assert.match(result.text, /"dependencies/);
    }
  });

  test('a registry that is gone is named', async () => {
    const other = await startRegistry({ packages: [] });
    const alone = await connect({ npm_config_userconfig: other.npmrc(`${directory}/gone`) });
    try {
      await other.stop();
      assert.match(await failure(alone, { 'own-types': '1' }), /127\.0\.0\.1.*[Cc]onnection refused/);
      await nothingIsLeft(alone);
    } finally {
      await alone.close();
    }
  });
});

describe('with a registry that is not as it should be', () => {
  let registry;
  let client;
  const good = tarball({ 'package.json': `{"name":"good","version":"1.0.0","madeFor":"${randomUUID()}"}` });
  before(async () => {
    registry = await startTinyRegistry(null, [
      { name: 'good', bytes: good },
      { name: 'broken', bytes: good.subarray(0, -9), dist: { integrity: `sha512-${Buffer.alloc(64, 7).toString('base64')}` } },
      { name: 'elsewhere', dist: { tarball: 'http://127.0.0.1:1/x.tgz' } },
      { name: 'no-address', dist: { tarball: 'javascript:1' } },
    ]);
    client = await connect({ npm_config_registry: registry.url });
  });
  after(async () => {
    await client?.close();
    registry?.stop();
  });
  // All requests for `part` are answered by `answer`, until the test ends.
  function answerWith(t, part, answer) {
    registry.requests.length = 0;
    registry.answer = (request, response) => request.url.includes(part) && (answer(response), true);
    t.after(() => (registry.answer = () => false));
  }

  test('a tarball that is not what its document says is refused', async () => {
    assert.match(await failure(client, { broken: '1' }), /broken 1\.0\.0 .*does not have the sha512 that the registry announced/);
  });

  test('a tarball that cannot be had is told of', async () => {
    assert.match(await failure(client, { elsewhere: '1' }), /127\.0\.0\.1:1.*refused/);
    assert.match(await failure(client, { 'no-address': '1' }), /no-address/);
  });

  for (const [what, status, body, expected] of [
    ['a web page', 200, '<!doctype html><title>Welcome</title>', /good.*(document|JSON)|(document|JSON).*good/],
    ['half a document', 200, '{"name":"good","versions":{"1.0', /good.*(document|JSON)|(document|JSON).*good/],
    ['a document without versions', 200, '{"name":"good"}', /good/],
    ['versions that are none', 200, '{"name":"good","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":7,"x":{}}}', /good/],
    ['status 500', 500, 'oops', /answers.*good.*status 500/],
    ['status 429', 429, '', /answers.*good.*status 429/],
    ['status 403', 403, '{}', /refuses.*good.*403.*~\/\.npmrc/],
    ['many brackets', 200, '['.repeat(1 << 20), /good/],
  ]) {
    test(`${what} instead of a document is told in the first line`, async (t) => {
      answerWith(t, '/good', (response) => response.writeHead(status).end(body));
      assert.match(await failure(client, { good: '1' }), expected);
    });
  }

  for (const [what, answer] of [
    ['does not answer', () => {}],
    ['sends a document by the byte', (response) => {
      response.writeHead(200, { 'content-length': 1 << 20 });
      const timer = setInterval(() => response.write(' '), 50);
      response.on('close', () => clearInterval(timer));
    }],
  ]) {
    test(`a registry that ${what} has as long as the installation may take`, async (t) => {
      // Long enough for npm to come to its question on a busy machine.
      const hasty = await connect({ npm_config_registry: registry.url, BELLJAR_INSTALL_TIMEOUT: '8000' });
      t.after(() => hasty.close());
      answerWith(t, '/good', answer);
      assert.match(await failure(hasty, { good: '1' }), /ETIMEDOUT: the packages were not installed after 8000 ms; .*good/);
      await nothingIsLeft(hasty);
    });
  }

  test('a call that is cancelled in the middle leaves nothing running', async (t) => {
    const patient = await connect({ npm_config_registry: registry.url });
    t.after(() => patient.close());
    const closed = new Promise((resolve) => answerWith(t, '.tgz', (response) => response.on('close', resolve)));
    const aborter = new AbortController();
    const call = assert.rejects(patient.run('1', { good: '1' }, {}, { signal: aborter.signal }));
    await registry.asked('.tgz');
    aborter.abort();
    await call;
    await within(5_000, 'the connection to the registry to be closed', closed);
    await nothingIsLeft(patient);
  });

  test('a session that is stopped in the middle ends the installation, too', async (t) => {
    const patient = await connect({ npm_config_registry: registry.url });
    t.after(() => patient.close());
    answerWith(t, '.tgz', () => {});
    const { text: id } = await patient.call('sandbox_initialize', {});
    const call = patient.call('run_js', { container_id: id, code: '1', dependencies: [{ name: 'good', version: '1' }] });
    await registry.asked('.tgz');
    await patient.call('sandbox_stop', { container_id: id });
    const result = await within(5_000, 'the run to end with its sandbox', call);
    assert.equal(result.isError, true);
    await nothingIsLeft(patient);
  });

  test('a server that ends in the middle ends at once', async (t) => {
    const patient = await connect({ npm_config_registry: registry.url });
    answerWith(t, '.tgz', () => {});
    const call = assert.rejects(patient.run('1', { good: '1' }));
    await registry.asked('.tgz');
    await within(5_000, 'the server to end', patient.close());
    await call;
  });
});
