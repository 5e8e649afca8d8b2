// Install scripts run for packages that the operator allows, where they reach nothing, and for nobody else.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { cli, packagesDirectory } from './lib/belljar.mjs';
import { connect, list } from './lib/packages_client.mjs';
import { processesWith } from './lib/proc.mjs';
import { startTinyRegistry } from './lib/tiny_registry.mjs';
import { until } from './lib/wait.mjs';

const module_ = { type: 'module', main: 'index.js' };
const show = (name) => `import value from '${name}'; console.log(JSON.stringify(value));`;

let registry;
before(async () => {
  registry = await startTinyRegistry();
  // What it exports is made by its script.
  registry.add({ name: 'builder', manifest: { ...module_, scripts: { postinstall: 'echo building here; node build.mjs' } }, files: {
    'index.js': 'export { default } from "./built.js";\n',
    'build.mjs': 'import fs from "node:fs"; fs.writeFileSync("built.js", `export default "built by ${process.env.npm_lifecycle_event}";`);\n',
  } });
  registry.add({ name: 'plain', manifest: module_, files: { 'index.js': 'export default "plain";\n' } });
});
after(() => registry?.stop());

async function open(t, allowed, more = {}) {
  const env = { npm_config_registry: registry.url, BELLJAR_PACKAGES_MAX_AGE: '3600', ...(allowed && { BELLJAR_PACKAGES_ALLOW_SCRIPTS: allowed }), ...more };
  const client = await connect(env);
  t.after(() => client.close());
  return client;
}

describe('an install script', () => {
  test('does not run unless the operator allows it, which the answer says', async (t) => {
    for (const allowed of [undefined, 'plain']) {
      const client = await open(t, allowed);
      const { telemetry } = await client.run('1', { builder: '1' });
      assert.match(telemetry.installOutput, /the install script of builder did not run.*packages-allow-scripts=builder/);
      const result = await client.run(show('builder'), { builder: '1' });
      assert.match(result.text, /Cannot find module.*built\.js/);
    }
  });

  test('does not run for `belljar run` either, which says so before the program runs', async () => {
    registry.add({ name: 'typed', manifest: { ...module_, scripts: { install: 'touch ran' } }, files: { 'index.js': '' } });
    const run = (more, options = []) => cli(['run', ...options, '-d', 'typed@1', '-e', 'console.error("the program")'], { env: { npm_config_registry: registry.url, ...more } });
    const { code, stdout, stderr } = await run({});
    assert.match(stderr, /^belljar: the install script of typed did not run.*packages-allow-scripts=typed\nthe program\n$/m);
    assert.deepEqual([code, stdout], [0, '']);
    const json = await run({}, ['--json']);
    assert.equal(JSON.parse(json.stdout).stderr, 'the program\n');
    assert.match(json.stderr, /^belljar: the install script of typed did not run/m);
    assert.doesNotMatch((await run({ BELLJAR_PACKAGES_ALLOW_SCRIPTS: 'typed' })).stderr, /did not run/);
  });

  test('that is allowed runs once, and what it made stays with the set', async (t) => {
    const client = await open(t, 'builder,plain');
    const first = await client.run(show('builder'), { builder: '1', plain: '1' });
    assert.equal(first.stdout, '"built by postinstall"\n', first.text);
    assert.equal(first.install.cached, false);
    assert.match(first.telemetry.installOutput, /building here/);
    for (const again of [client, await open(t, 'builder,plain')]) {
      const result = await again.run(show('builder'), { builder: '1', plain: '1' });
      assert.deepEqual([result.stdout, result.install.cached], ['"built by postinstall"\n', true]);
    }
    const byLockfile = await client.run(show('builder'), {}, { lockfile: first.install.lockfile.uri });
    assert.equal(byLockfile.stdout, '"built by postinstall"\n', byLockfile.text);
    // Whoever does not allow it has another set.
    const strict = await open(t);
    for (const packages of [[{ builder: '1', plain: '1' }, {}], [{}, { lockfile: first.install.lockfile.uri }]]) {
      const result = await strict.run(`import fs from 'node:fs'; console.log(fs.readdirSync('node_modules/builder').join());`, ...packages);
      assert.equal(result.stdout, 'build.mjs,index.js,package.json\n', result.text);
    }
  });

  test('finds what npm gives it: names, events, commands of others, in order', async (t) => {
    const note = (event) => `node -p '[process.env.npm_lifecycle_event, process.env.npm_package_name, process.env.npm_package_version, process.env.npm_command, process.cwd()].join(" ")' >> log.txt && helper ${event} >> log.txt`;
    registry.add({ name: 'helper', version: '1.2.0', manifest: { ...module_, bin: 'helper.mjs', scripts: { install: 'echo made > made.txt' } }, files: { 'index.js': '', 'helper.mjs': '#!/usr/bin/env node\nconsole.log("helped", process.argv[2]);\n' } });
    registry.add({ name: '@scope/chatty', version: '3.0.0', manifest: { ...module_, dependencies: { helper: '1' }, scripts: { preinstall: note('before'), install: note('now'), postinstall: note('after') } }, files: { 'index.js': 'import fs from "node:fs"; export default fs.readFileSync(new URL("log.txt", import.meta.url), "utf8").trim().split("\\n");\n' } });
    const client = await open(t, '@scope/chatty,helper');
    const { stdout, text } = await client.run(show('@scope/chatty'), { '@scope/chatty': '3' });
    const line = (event) => `${event} @scope/chatty 3.0.0 rebuild /workspace/node_modules/@scope/chatty`;
    assert.deepEqual(JSON.parse(stdout || 'null'), [line('preinstall'), 'helped before', line('install'), 'helped now', line('postinstall'), 'helped after'], text);
  });

  test('may change and remove files, of its set only', async (t) => {
    registry.add({ name: 'vandal', manifest: { ...module_, dependencies: { plain: '1' }, scripts: { install: 'echo "export default \'changed\';" > ../plain/index.js; chmod 777 ../plain/package.json; rm extra.js; mkdir -p deep/er; ln -s ../extra.js deep/link; cp index.js deep/er/copy.js' } }, files: { 'index.js': 'export { default } from "plain";\n', 'extra.js': '1' } });
    const client = await open(t, 'vandal');
    const look = `import fs from 'node:fs'; import value from 'vandal'; const find = (place) => fs.readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? find(place + '/' + entry.name) : [place + '/' + entry.name]));
      console.log(JSON.stringify([value, find('node_modules/vandal').map((path) => path.slice(20)).sort(), fs.readlinkSync('node_modules/vandal/deep/link')]));`;
    const result = await client.run(look, { vandal: '1' });
    assert.deepEqual(JSON.parse(result.stdout || 'null'), ['changed', ['deep/er/copy.js', 'deep/link', 'index.js', 'package.json'], '../extra.js'], result.text);
    assert.equal((await client.run(show('plain'), { plain: '1' })).stdout, '"plain"\n');
    assert.equal((await (await open(t)).run(show('vandal'), { vandal: '1' })).stdout, '"plain"\n');
  });

  test('changes a set whose packages others share in a tree, for itself', async (t) => {
    const parts = Array.from({ length: 9 }, (_, i) => `part${i}`);
    for (const name of parts) registry.add({ name, manifest: module_, files: { 'index.js': `export default "${name}";\n`, 'lib/a.js': 'a', 'lib/b.js': 'b' } });
    // One goes, one comes back without what it had, of one a directory is a file now, one is another's.
    const script = 'rm -r part0; rm -r part1/lib; mkdir part1/lib; echo new > part1/lib/c.js; rm -r part2/lib; echo file > part2/lib; mv part3 moved; rm -r part4; ln -s part5 part4; mv part6/lib part6/lib2; touch part7/index.js';
    registry.add({ name: 'rebuilds', manifest: { ...module_, dependencies: Object.fromEntries(parts.map((name) => [name, '1'])), scripts: { install: `cd .. && ${script}` } }, files: { 'index.js': '' } });
    const look = `import fs from 'node:fs'; const find = (place) => fs.readdirSync(place, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? find(place + '/' + entry.name) : [(place + '/' + entry.name).slice(13)]));
      console.log(find('node_modules').filter((path) => /^(part[0-6]|moved)/.test(path) && !path.endsWith('package.json')).sort().join(' '));`;
    const whole = (i) => [`part${i}/index.js`, `part${i}/lib/a.js`, `part${i}/lib/b.js`];
    const before = [0, 1, 2, 3, 4, 5, 6].flatMap(whole).join(' ');
    const changed = ['moved/index.js', 'moved/lib/a.js', 'moved/lib/b.js', 'part1/index.js', 'part1/lib/c.js', 'part2/index.js', 'part2/lib', 'part4', ...whole(5), 'part6/index.js', 'part6/lib2/a.js', 'part6/lib2/b.js'].join(' ');
    const strict = await open(t);
    assert.equal((await strict.run(look, { rebuilds: '1' })).stdout, `${before}\n`);
    const client = await open(t, 'rebuilds');
    const results = [await client.run(look, { rebuilds: '1' }), await client.run(look, { rebuilds: '1' }), await (await open(t, 'rebuilds')).run(look, { rebuilds: '1' })];
    for (const result of results) assert.equal(result.stdout, `${changed}\n`, result.text);
    assert.deepEqual(results.map((result) => result.install.cached), [false, true, true]);
    assert.equal((await strict.run(look, { rebuilds: '1' })).stdout, `${before}\n`);
  });

  test('that fails makes the installation fail, with its last lines', async (t) => {
    registry.add({ name: 'broken', manifest: { ...module_, scripts: { install: 'for i in 1 2 3; do echo line $i; done; echo what went wrong >&2; exit 3' } }, files: { 'index.js': '' } });
    const client = await open(t, 'broken');
    for (let i = 0; i < 2; i++) {
      const result = await client.run('1', { broken: '1' });
      assert.equal(result.isError, true);
      assert.match(result.text, /^the install script of broken failed \(for i in 1 2 3/);
      assert.match(result.text, /line 3[^]*what went wrong/);
      assert.match(result.text, /leave broken out of packages-allow-scripts/);
    }
    assert.equal((await (await open(t)).run('console.log(1)', { broken: '1' })).stdout, '1\n');
  });

  // As `npm install` leaves it: chain needs maybe, only is needed by nobody else, shared is; the lockfile names all of them.
  test('of an optional package may fail, which removes it, those that need it and what only they need', async (t) => {
    for (const name of ['only', 'shared']) registry.add({ name, manifest: module_, files: { 'index.js': '' } });
    registry.add({ name: 'maybe', manifest: { ...module_, bin: 'index.js', dependencies: { only: '1', shared: '1' }, scripts: { install: 'echo not today; echo half > half.js; exit 1' } }, files: { 'index.js': 'export default 1;\n' } });
    registry.add({ name: 'chain', manifest: { ...module_, dependencies: { maybe: '1' } }, files: { 'index.js': '' } });
    registry.add({ name: 'patient', manifest: { ...module_, dependencies: { shared: '1' }, optionalDependencies: { chain: '1' }, scripts: { postinstall: 'echo done > done.txt' } }, files: { 'index.js': 'import fs from "node:fs"; export default fs.readFileSync(new URL("done.txt", import.meta.url), "utf8").trim();\n' } });
    const client = await open(t, 'patient,maybe');
    const result = await client.run(show('patient'), { patient: '1' });
    assert.equal(result.stdout, '"done"\n', result.text);
    assert.match(result.telemetry.installOutput, /warning: optional packages were left out because their install scripts failed: node_modules\/maybe\n/);
    assert.match(result.telemetry.installOutput, /not today[^]*the install script of maybe failed/);
    const look = `import fs from 'node:fs'; console.log([...fs.readdirSync('node_modules'), ...Object.keys(JSON.parse(fs.readFileSync('node_modules/.package-lock.json')).packages)].sort().join(' '));`;
    const left = '.package-lock.json node_modules/patient node_modules/shared patient shared\n';
    assert.equal((await client.run(look, { patient: '1' })).stdout, left);
    assert.equal((await client.run(look, {}, { lockfile: result.install.lockfile.uri })).stdout, left);
    assert.match((await client.read(result.install.lockfile.uri)).contents[0].text, /node_modules\/maybe/);
    // Whoever does not allow the script has the package.
    assert.match((await (await open(t, 'patient')).run(look, { patient: '1' })).stdout, / maybe .* only /);
  });

  test('of a package under another name is that of the package', async (t) => {
    registry.add({ name: 'stranger', manifest: { ...module_, scripts: { install: 'touch ran' } }, files: { 'index.js': '' } });
    const look = `import fs from 'node:fs'; console.log(fs.existsSync('node_modules/builder/ran'));`;
    registry.add({ name: 'renames', manifest: { ...module_, dependencies: { builder: 'npm:stranger@1' } }, files: { 'index.js': '' } });
    const packages = { renames: '1' };
    assert.equal((await (await open(t, 'builder')).run(look, packages)).stdout, 'false\n');
    assert.equal((await (await open(t, 'stranger')).run(look, packages)).stdout, 'true\n');
  });

  test('that does not end is ended in time', async (t) => {
    registry.add({ name: 'endless', manifest: { ...module_, scripts: { install: 'sleep 1000' } }, files: { 'index.js': '' } });
    const client = await open(t, 'endless', { BELLJAR_INSTALL_TIMEOUT: '5000' });
    const result = await client.run('1', { endless: '1' });
    assert.equal(result.isError, true);
    assert.match(result.text, /ETIMEDOUT.*5000 ms.*running install scripts/);
  });
});

test('belljar killed while a script runs leaves nothing of it, and the next one builds the set', async (t) => {
  // A shell goes on when somebody ends its sleep; the number is a word that nobody else has.
  const pause = `sleep 99${process.pid}`;
  registry.add({ name: 'slow', manifest: { ...module_, scripts: { install: `echo half > half.js; ${pause}; echo 'export default "whole";' > index.js` } }, files: { 'index.js': 'export default "half";\n' } });
  const sleeping = () => processesWith(pause).filter(({ name }) => name === 'sleep');
  const running = () => until('the script to run', () => sleeping()[0]);
  const [layers, works] = ['layers', 'tmp'].map((name) => () => readdirSync(`${packagesDirectory}/${name}`).sort());
  const allowed = { BELLJAR_PACKAGES_ALLOW_SCRIPTS: 'slow', npm_config_registry: registry.url, BELLJAR_PACKAGES_MAX_AGE: '3600' };
  await (await open(t, 'slow')).run('1', { plain: '1' }); // whatever is there before, is there now
  const [before, worksBefore] = [layers(), works()];

  const doomed = await connect(allowed);
  const lost = doomed.run('1', { slow: '1' }).catch((error) => error);
  await running();
  process.kill(doomed.pid, 'SIGKILL');
  await lost;
  await until('all that it started to end', () => processesWith(pause).length === 0);
  assert.deepEqual(layers(), before, 'there is no half layer');
  const left = works().filter((name) => !worksBefore.includes(name));
  assert.equal(left.length, 1, 'what it worked on is there');

  const next = await open(t, 'slow');
  const result = next.run(show('slow'), { slow: '1' });
  process.kill((await running()).pid, 'SIGTERM');
  assert.equal((await result).stdout, '"whole"\n', (await result).text);
  assert.equal((await result).install.cached, false);
  assert.ok(!works().includes(left[0]), 'nothing is left of the one before');
  assert.equal((await (await open(t, 'slow')).run(show('slow'), { slow: '1' })).install.cached, true);
});

test('a program whose package lacks its native code is told how that is allowed', async (t) => {
  registry.add({ name: 'addon', manifest: { main: 'index.js' }, files: { 'index.js': 'module.exports = require("./build/Release/addon.node");\n', 'binding.gyp': '{}' } });
  const result = await (await open(t)).run('import "addon";', { addon: '1' });
  assert.match(result.text, /packages-allow-scripts=addon/);
});

test('a session sees what scripts made, and its files can be read and listed', async (t) => {
  const client = await open(t, 'builder');
  const session = await client.session(t);
  await session.run(show('builder'), { dependencies: list({ builder: '1' }) });
  const read = (path) => session.call('sandbox_read_file', { path });
  assert.match((await read('node_modules/builder/built.js')).text, /built by postinstall/);
  await session.exec('echo mine > node_modules/builder/mine.txt; ln -s /etc/passwd node_modules/builder/link');
  assert.equal((await read('node_modules/builder/mine.txt')).text, 'mine\n');
  for (const path of ['node_modules/builder/link', 'node_modules/builder', 'node_modules/none']) assert.equal((await read(path)).isError, true, path);
  const { entries } = await session.call('sandbox_list_files', { path: 'node_modules/builder' });
  assert.deepEqual(entries.map(({ path }) => path.slice('node_modules/builder/'.length)), ['build.mjs', 'built.js', 'index.js', 'link', 'mine.txt', 'package.json']);
  assert.deepEqual((await session.call('sandbox_list_files', { path: 'node_modules', recursive: false })).entries.map(({ path }) => path), ['node_modules/.package-lock.json', 'node_modules/builder']);
});
