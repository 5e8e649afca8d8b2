// IJ: arguments of a client that try to be commands, options, paths or formats.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { ownDirectory } from '../e2e/lib/directories.mjs';
import { descendants } from '../e2e/lib/proc.mjs';
import { openJar } from './lib/jar.mjs';

const directory = ownDirectory('belljar-injection-');
after(() => rmSync(directory, { recursive: true, force: true }));
const jar = openJar({ env: { FILES_DIR: directory } });

const planted = () => join(jar.watch.directory, 'planted');
// One command, in every form that a shell, or a careless line of code, might run.
const commands = () => [`x; touch ${planted()}`, `$(touch ${planted()})`, `\`touch ${planted()}\``, `x\ntouch ${planted()}`, `x && touch ${planted()}`, `x | touch ${planted()}`, `'; touch ${planted()}; '`, `"; touch ${planted()}; "`];
const formats = ['%s%n', '%1$n%x', '{}', '{0}', '{:1000000}'];
const everyTool = {
  run_js: { code: '1' }, sandbox_exec: { commands: ['true'] }, sandbox_stop: {}, sandbox_logs: {}, sandbox_read_file: { path: 'a' }, sandbox_list_files: {}, sandbox_write_files: { files: [{ path: 'a', content: '' }] },
};

// The call is refused with a short tool error, or an error of the protocol.
async function refused(tool, args, wanted) {
  const result = await jar.server.call(tool, args).catch((error) => ({ isError: true, text: error.message }));
  const what = `${tool} ${JSON.stringify(args).slice(0, 100)}`;
  assert.equal(result.isError, true, what);
  assert.ok(result.text.length < 2_000, `${what}: a long error`);
  if (wanted) assert.match(result.text, wanted, what);
}

afterEach(() => {
  assert.ok(!existsSync(planted()), 'a command was run on the host');
  assert.deepEqual(descendants(jar.server.pid).filter(({ name }) => name.startsWith('sh') || name === 'touch'), [], 'no shell of the server');
});

test('IJ control: a shell runs each of these commands', () => {
  for (const command of commands()) {
    const shell = ['true ', 'true "', "true '"].some((before) => {
      spawnSync('/bin/sh', ['-c', `${before}${command}${before.at(-1)}`], { stdio: 'ignore' });
      const worked = existsSync(planted());
      rmSync(planted(), { force: true });
      return worked;
    });
    assert.ok(shell, command);
  }
});

test('IJ01 IJ02 IJ04 ids that are commands, options, paths or nothing are no ids, for every tool', async () => {
  const ids = [...commands(), '--help', '-f', '', ' ', '.', '..', '../../images/json', '%2e%2e%2f', '..%2f..%2f', 'a?x=1', 'a#b', 'a\r\nHost: x', 'a\0b', 'x'.repeat(1 << 20), 'js-sbx-*', 'ü', ...formats];
  for (const [tool, args] of Object.entries(everyTool)) {
    for (const id of ids) await refused(tool, { ...args, container_id: id }, /Invalid container ID|container_id|no such sandbox/i);
    for (const id of [7, null, true, ['a'], { id: 'a' }, 1e300]) await refused(tool, { ...args, container_id: id }, /container_id/);
  }
});

test('IJ05 an image is a name of Node.js, not an option, a mount, a digest or somebody else\'s registry', async () => {
  const images = [...commands(), '--privileged', '-v/:/h', 'a b', `x@sha256:${'0'.repeat(64)}`, `node@sha256:${'0'.repeat(64)}`, 'evil:5000/node:22', 'evil.example/node:22', 'http://evil.example/', '../node', 'node:../../etc', 'node:22/../..', 'n'.repeat(4096), 'node:22\0', ...formats, 5, ['node:22'], {}];
  for (const image of images) {
    await refused('sandbox_initialize', { image }, /image/);
    await refused('run_js_ephemeral', { code: '1', image }, /image/);
  }
});

test('IJ06 a package has the name of a package, and a version is a version', async () => {
  const names = [...commands(), '--prefix=/', '-g', ';id', 'a b', '../../x', '/etc', './x', '@a/../b', '@/x', 'a@b', 'node_modules', '.bin', 'https://evil.example/x.tgz', 'a\0b', 'x'.repeat(300), ...formats.slice(0, 3), 7, null, ['a']];
  for (const name of names) {
    await refused('run_js_ephemeral', { code: '1', dependencies: [{ name, version: '1' }] }, /dependencies/);
    await refused('get_dependency_types', { dependencies: [{ name }] });
  }
  const versions = [...commands(), '--x', '-g', 'file:/etc', 'git+ssh://x', 'https://evil.example/x.tgz', 'npm:other@1', '../x', '/etc', 'user/repository', 'workspace:*', '1\n2', 1, null];
  for (const version of versions) await refused('run_js_ephemeral', { code: '1', dependencies: [{ name: 'a', version }] }, /dependencies/);
});

test('IJ08 variables that change how programs start cannot be set, and names are names', async () => {
  const names = ['LD_PRELOAD', 'LD_AUDIT', 'LD_LIBRARY_PATH', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'PATH', 'HOME', 'HTTPS_PROXY', 'https_proxy', 'Http_Proxy', 'NO_PROXY', 'ALL_PROXY', 'A=B', 'A=B=C', 'A\nB', 'A\0B', '', ' ', '1A', 'A B', 'A-B', 'Ä', ...commands()];
  for (const name of names) await refused('run_js_ephemeral', { code: '1', env: { [name]: '/tmp/x' } }, /env/);
  await refused('run_js_ephemeral', { code: '1', env: { A: 'x\0LD_PRELOAD=/tmp/x' } }, /env/);
  const seen = await jar.inside(() => [process.env.A, Object.keys(process.env).filter((name) => /^(B|LD_)/.test(name))], { env: { A: `x\nB=${commands()[1]}` } });
  assert.deepEqual(seen, [`x\nB=${commands()[1]}`, []]);
});

test('IJ09 the text of a program is bytes, whatever they look like', async () => {
  const texts = ['EOF\n', 'EOF', `';${commands()[0]}`, '\u2028\u2029', '\u0000'.replace('\0', '\\0'), ...commands(), ...formats, '\\', "'\"`", '\x1b[2J', '#!/bin/sh', '*/', '-->', 'ü😀', '\ufeff'];
  const lines = texts.map((text) => `process.stdout.write(${JSON.stringify(text)}) // ${text.replaceAll(/[\r\n\u2028\u2029]/g, ' ')}`);
  for (const some of [lines, [lines[0]], [lines.at(-1)]]) assert.equal((await jar.server.run(some.join('\n'))).stdout, some.map((line) => texts[lines.indexOf(line)]).join(''));
  assert.equal((await jar.server.run('\ufeffconsole.log("mark")')).stdout, 'mark\n');
  for (const code of ['a\0b', `/*${'x'.repeat(6 << 20)}*/`]) await refused('run_js_ephemeral', { code });
  jar.server.send({ id: 'huge', method: 'tools/call', params: { name: 'run_js_ephemeral', arguments: { code: `/*${'x'.repeat(50 << 20)}*/` } } });
  await jar.server.next('a refusal', ({ error }) => error); // without an id: nobody reads that far
});

test('IJ10 a port is 0 or a number from 1024 to 65535, and its host is not to be chosen', async () => {
  for (const port of [22, 1, -1, 65536, 1023, 8080.5, '8080', '8080:80', '0.0.0.0:8080', '0', [8080], 1e300]) {
    await refused('sandbox_initialize', { port }, /port/);
    await refused('run_js', { container_id: 'x', code: '1', listenOnPort: port }, /listenOnPort/);
  }
  for (const name of ['host', 'address', 'hostPort', 'bind']) await refused('sandbox_initialize', { port: 8080, [name]: '0.0.0.0' }, new RegExp(name));
});

test('IJ12 paths stay beneath the workspace, and the working directory is not to be chosen', async (t) => {
  const session = await jar.session(t);
  const paths = ['..', '../x', 'a/../../x', '/etc/passwd', '/', '~', '~/x', '~root/x', 'a\0b', '', 'x'.repeat(5000), 'files/../../etc/passwd', ...commands().slice(0, 1)];
  for (const path of paths.filter((one) => !/^~|^x;/.test(one))) {
    await refused('sandbox_read_file', { container_id: session, path }, /path/);
    await refused('sandbox_write_files', { container_id: session, files: [{ path, content: 'x' }] }, /path/);
    if (path !== '') await refused('sandbox_list_files', { container_id: session, path }, /path/);
  }
  for (const name of ['~', '-rf', '--checkpoint-action=exec=sh', commands()[0].replaceAll('/', '_'), ...formats]) { // names like others
    await jar.server.call('sandbox_write_files', { container_id: session, files: [{ path: name, content: name }] });
    assert.equal(await jar.inside((name) => fs.readFileSync(`/workspace/${name}`, 'utf8'), { in: session, data: name }), name);
  }
  for (const name of ['cwd', 'entry', 'workdir', 'user', 'path']) await refused('run_js_ephemeral', { code: '1', [name]: '../..' }, new RegExp(name));
});

test('IJ13 names of sandboxes, directories and cgroups are the server\'s own', async (t) => {
  for (const name of ['name', 'id', 'label', 'container_id', 'labels', 'annotations']) await refused('sandbox_initialize', { [name]: '../..' }, new RegExp(name));
  const ids = await Promise.all(Array.from({ length: 5 }, () => jar.session(t)));
  for (const id of ids) assert.match(id, /^js-sbx-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal(new Set(ids).size, 5);
  const names = jar.watch.cgroups().flatMap((path) => readdirSync(path, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual(names.filter((name) => !/^s\d+$/.test(name)), []);
});

test('IJ18 a resource is a file of FILES_DIR, by whatever address', async () => {
  writeFileSync(join(directory, 'a.txt'), 'mine');
  const base = pathToFileURL(directory).href;
  assert.equal((await jar.server.request('resources/read', { uri: `${base}/a.txt` })).result.contents[0].text, 'mine');
  const canary = jar.watch.canary;
  const uris = [`file://${canary}`, `${base}/../${canary}`, `${base}/..${canary}`, `${base}/%2e%2e/%2e%2e${canary}`, `${base}/..%2f..%2f${canary}`, `${base}//${canary}`, `${base}/a.txt/../../..${canary}`, `file://localhost${canary}`, `FILE://${canary}`, `file:${canary}`,
    'sandbox://x/../../other/secret', `${base}/a.txt%00.png`, `${base}/a.txt?x`, 'file:///proc/self/environ', `file:///proc/${jar.server.pid}/environ`, '', '%', ...formats, ...commands()];
  for (const uri of uris) {
    const { result, error } = await jar.server.request('resources/read', { uri });
    assert.ok(error && !result, uri);
    assert.ok(!JSON.stringify(error).includes(jar.watch.secret));
  }
});

test('IJ20 formats in every field are text', async (t) => {
  const session = await jar.session(t);
  for (const text of formats) {
    assert.equal((await jar.server.run('process.stdout.write(process.argv[2] + process.env.A + require("node:fs").readFileSync(0, "utf8"))'.replace('require("node:fs")', '(await import("node:fs"))'), { args: [text], env: { A: text }, stdin: text })).stdout, text.repeat(3));
    assert.match((await jar.exec(session, `printf '%s' '${text}'`)).text, new RegExp(text.replaceAll(/[{}$]/g, '\\$&')));
    await refused(text, {});
    await refused('run_js_ephemeral', { [text]: text });
    for (const method of [text, `tools/${text}`]) assert.equal((await jar.server.request(method)).error.code, -32601);
    await refused('run_js_ephemeral', { code: '1', language: text }, /language/);
  }
});
