// `dependencies`: packages that npm installs for a program, with the official SDK and a registry of our own.
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { startRegistry } from './lib/registry.mjs';
import { connect, list } from './lib/packages_client.mjs';

const directory = mkdtempSync(`${tmpdir()}/belljar-dependencies-`);
after(() => rmSync(directory, { recursive: true }));

// A program that prints the default exports of packages.
const show = (...names) =>
  `console.log(JSON.stringify(await Promise.all(${JSON.stringify(names)}.map(async (name) => (await import(name)).default))))`;

// What a program can read that might have a secret or an address in it.
const readAll = `
  import fs from 'node:fs';
  import path from 'node:path';
  const texts = [JSON.stringify(process.env)];
  const read = (file) => { try { texts.push(fs.readFileSync(file, 'latin1')); } catch {} };
  const walk = (place) => {
    for (const entry of fs.readdirSync(place, { withFileTypes: true })) {
      const file = path.join(place, entry.name);
      if (entry.isDirectory()) walk(file);
      else if (file !== import.meta.filename) read(file);
    }
  };
  for (const place of ['/workspace', '/home', '/tmp', '/etc']) walk(place);
  for (const pid of fs.readdirSync('/proc').filter((name) => Number(name))) {
    for (const name of ['environ', 'cmdline']) read(\`/proc/\${pid}/\${name}\`);
  }
  const all = texts.join('\\n');
`;

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

  // The default exports of packages as a program sees them.
  async function imported(packages, args = {}) {
    const result = await client.run(show(...Object.keys(packages)), packages, args);
    assert.equal(result.isError, false, result.text);
    return JSON.parse(result.stdout);
  }
  async function session(t, args = {}) {
    const { text: id } = await client.call('sandbox_initialize', args);
    t.after(() => client.call('sandbox_stop', { container_id: id }));
    return (code, packages = {}, more = {}) =>
      client.call('run_js', { container_id: id, code, dependencies: list(packages), ...more });
  }

  test('a program imports a package, and the answer tells about the installation', async () => {
    const result = await client.run(show('own-types'), { 'own-types': 'latest' });
    assert.equal(result.content[0].text, 'Node.js process output:\n["1.2.3"]\n');
    assert.equal(result.install.packages, 1);
    assert.equal(result.install.cached, false);
    assert.ok(result.install.ms > 0);
    assert.equal(result.telemetry.installTimeMs, result.install.ms);
    assert.match(result.telemetry.installOutput, /added 1 package/);
    assert.equal(typeof result.telemetry.runTimeMs, 'number');
  });

  test('without dependencies nothing is installed', async () => {
    const result = await client.run('1');
    assert.equal(result.telemetry.installTimeMs, 0);
    assert.equal(result.telemetry.installOutput, 'Skipped npm install (no dependencies)');
    assert.deepEqual(result.install, { ms: 0, cached: false, packages: 0 });
  });

  test('several packages are installed at once, with a scope and with what they need themselves', async () => {
    const packages = { 'own-types': '1', '@scope/untyped': '*', 'with-dependencies': '1.0.0' };
    assert.deepEqual(await imported(packages), ['1.2.3', '@scope/untyped', ['1.2.3', 'no-types']]);
  });

  for (const [version, expected] of Object.entries({
    '1.0.0': '1.0.0', '~1.2.0': '1.2.3', '<1.2.3': '1.2.0', '>=1.0.0 <1.2.0 || 1.2.0': '1.2.0', next: '2.0.0-beta.1',
    stable: '1.2.3', '*': '1.2.3', '^2.0.0-alpha': '2.0.0-beta.1', '1.0 - 1.1': '1.0.0',
  })) {
    test(`the version ${version} means ${expected}`, async () => {
      assert.deepEqual(await imported({ 'own-types': version }), [expected]);
    });
  }

  test('a private package is installed with the token of npm’s configuration, and nothing shows it or the registry', async () => {
    const { host } = new URL(registry.url);
    const result = await client.run(
      `${readAll}import secret from '@private/x';
       const seen = JSON.parse(fs.readFileSync(0)).filter((word) => all.includes(word));
       console.log(JSON.stringify({ secret, seen, lock: all.includes('"lockfileVersion"'), size: all.length }));`,
      { '@private/x': '1', 'with-dependencies': '1' }, { stdin: JSON.stringify([registry.token, host, 'authToken', 'npmrc']) });
    assert.equal(result.isError, false, result.text);
    const { secret, seen, lock, size } = JSON.parse(result.stdout);
    assert.deepEqual({ secret, seen, lock }, { secret: 'private', seen: [], lock: true });
    assert.ok(size > 1000);
    assert.ok(!result.text.includes(registry.token) && !result.text.includes(host), result.text);
  });

  test('a command of a package can be used', async () => {
    const code = `import { execFileSync } from 'node:child_process';
      process.stdout.write(execFileSync('node_modules/.bin/fixture-command'));
      process.stdout.write(execFileSync('npx', ['--no', 'fixture-command']));`;
    const result = await client.run(code, { 'with-bin': '1' });
    assert.equal(result.stdout, 'from a bin\nfrom a bin\n', result.text);
  });

  test('a CommonJS package has a default import', async () => {
    assert.deepEqual(await imported({ 'common-js': '1' }), [{ nonamed: 'common-js' }]);
  });

  test('a TypeScript program imports a package', async () => {
    const code = `import value from 'own-types';\nconst text: string = value;\nconsole.log(text satisfies string);`;
    const result = await client.run(code, { 'own-types': 'latest' }, { language: 'typescript' });
    assert.equal(result.stdout, '1.2.3\n', result.text);
  });

  test('a script of a package does not run', async () => {
    const code = `import fs from 'node:fs';
      console.log(['/tmp/postinstall-ran', 'node_modules/with-postinstall/postinstall-ran'].filter((path) => fs.existsSync(path)).length);`;
    const result = await client.run(code, { 'with-postinstall': '1' });
    assert.equal(result.stdout, '0\n', result.text);
    assert.equal(existsSync('/tmp/postinstall-ran'), false);
  });

  test('the installation is told of while it goes on', async () => {
    const messages = [];
    const onprogress = ({ message }) => messages.push(message);
    await client.run('1', { 'with-dependencies': '1' }, {}, { onprogress });
    assert.match(messages.join('\n'), /^installing packages: /m);
  });

  test('in a session each run has what it asks for and what others asked for before', async (t) => {
    const run = await session(t);
    const packages = `import fs from 'node:fs';
      const names = fs.existsSync('node_modules') ? fs.readdirSync('node_modules').filter((name) => !name.startsWith('.')) : [];
      console.log(names.join(), JSON.parse(fs.readFileSync('package.json')).type);`;
    for (const [dependencies, expected] of [
      [{}, ' module'],
      [{ 'own-types': '1.0.0' }, 'own-types module'],
      [{ 'no-types': '*', '@scope/untyped': '*' }, '@scope,no-types,own-types module'],
      [{}, '@scope,no-types,own-types module'],
      [{ 'own-types': '1.2.3' }, '@scope,no-types,own-types module'],
    ]) {
      const result = await run(packages, dependencies);
      assert.equal(result.stdout, `${expected}\n`, result.text);
      assert.equal(result.install.packages, Object.keys(dependencies).length && expected.split(' ')[0].split(',').length);
    }
    const result = await run(show('own-types'), {});
    assert.equal(result.stdout, '["1.2.3"]\n');
  });

  test('in a session files of the workspace stay, and no package is reported as a changed file', async (t) => {
    const run = await session(t);
    await run(`import fs from 'node:fs'; fs.writeFileSync('kept', 'x'); fs.writeFileSync('files/a', 'x')`);
    const result = await run(`import fs from 'node:fs'; console.log(fs.existsSync('kept'), fs.existsSync('files/a'))`, { 'no-types': '*' });
    assert.equal(result.stdout, 'true true\n', result.text);
    assert.deepEqual(result.files, []);
  });

  test('an installation that fails leaves the session and its packages as they were', async (t) => {
    const run = await session(t);
    assert.equal((await run(show('own-types'), { 'own-types': '1.0.0' })).stdout, '["1.0.0"]\n');
    const failed = await run('1', { 'own-types': '^9' });
    assert.equal(failed.isError, true);
    assert.equal((await run(show('own-types'))).stdout, '["1.0.0"]\n');
  });

  test('a server has its packages, too', async (t) => {
    const run = await session(t, { port: 4567 });
    const code = `import http from 'node:http'; import value from 'own-types';
      http.createServer((request, response) => response.end(value)).listen(4567);`;
    const started = await run(code, { 'own-types': '1.0.0' }, { listenOnPort: 4567 });
    assert.equal(started.isError, false, started.text);
    const address = /127\.0\.0\.1:\d+/.exec(started.text)?.[0];
    assert.equal(await (await fetch(`http://${address ?? '127.0.0.1:4567'}/`)).text(), '1.0.0');
  });

  test('eight installations at once each get their own packages', async () => {
    const versions = ['1.0.0', '1.2.0', '1.2.3', 'next'];
    const runs = Array.from({ length: 8 }, (_, i) => imported({ 'own-types': versions[i % 4] }));
    const expected = ['1.0.0', '1.2.0', '1.2.3', '2.0.0-beta.1'];
    assert.deepEqual(await Promise.all(runs), [...expected, ...expected].map((version) => [version]));
  });

  const data = process.env.BELLJAR_DATA_DIR ?? `${process.env.XDG_DATA_HOME ?? `${homedir()}/.local/share`}/belljar`;
  for (const major of [20, 22, 24, 26]) {
    const installed = readdirSync(`${data}/runtimes`).some((version) => version.startsWith(`${major}.`));
    test(`node:${major} installs packages`, { skip: !installed && `node:${major} is not installed here` }, async () => {
      const packages = { 'with-dependencies': '1', '@private/x': '1' };
      assert.deepEqual(await imported(packages, { image: `node:${major}` }), [['1.2.3', 'no-types'], 'private']);
    });
  }
});

describe('with the registry of this machine', () => {
  let client;
  let absence = false;
  before(async () => {
    client = await connect();
    const { text, structuredContent } = await client.call('get_dependency_types', { dependencies: [{ name: 'is-odd' }] });
    absence = structuredContent?.packages?.[0].error ?? (structuredContent ? false : text);
  });
  after(() => client?.close());

  test('well-known packages work', async (t) => {
    if (absence) return t.skip(`no npm registry can be reached: ${absence}`);
    const code = `import _ from 'lodash';\nimport express from 'express';\nconsole.log(_.chunk([1, 2, 3], 2).length, typeof express().get);`;
    const result = await client.run(code, { lodash: '^4.17.0', express: '4' });
    assert.equal(result.stdout, '2 function\n', result.text);
    assert.ok(result.install.packages > 20);
    t.diagnostic(`lodash and express: ${result.install.packages} packages in ${result.install.ms} ms`);
  });
});
