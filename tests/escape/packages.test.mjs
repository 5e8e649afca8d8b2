// NP: hostile packages. The registry that serves them is a tiny one in this process.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { Server } from '../e2e/lib/stdio.mjs';
import { header, tarball } from '../e2e/lib/tarball.mjs';
import { startTinyRegistry } from '../e2e/lib/tiny_registry.mjs';
import { within } from '../e2e/lib/wait.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';

const registry = await startTinyRegistry();
const stranger = await startTinyRegistry(); // nobody should ever ask it
after(() => [registry, stranger].forEach((one) => one.stop()));

const jar = openJar({ env: { npm_config_registry: registry.url, BELLJAR_INSTALL_TIMEOUT: '20000' } });
const list = (packages) => packages.map((name) => ({ name, version: '*' }));
const install = (...names) => jar.server.run('console.log("ran")', { dependencies: list(names) });
const module_ = { type: 'module', main: 'index.js' };
const index = { 'index.js': 'export default 1;\n' };

// Everything that is in node_modules of a fresh sandbox after an installation: { path: kind }.
const installed = (names, args = {}) => jar.inside(() => {
  const seen = {};
  const walk = (place) => {
    for (const entry of fs.readdirSync(place, { withFileTypes: true })) {
      const path = `${place}/${entry.name}`;
      seen[path] = entry.isDirectory() ? 'directory' : entry.isFile() ? 'file' : entry.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : 'other';
      if (entry.isDirectory()) walk(path);
    }
  };
  walk('node_modules');
  return seen;
}, { dependencies: list(names), ...args });

test('NP01 NP08 NP18 no script of a package or of what it needs runs, whatever its name', async () => {
  const script = 'touch /tmp/script-ran /workspace/script-ran ./script-ran; (setsid sleep 1000 &) ; id';
  const scripts = Object.fromEntries(['preinstall', 'install', 'postinstall', 'prepare', 'prepublish', 'preprepare', 'dependencies', 'postuninstall'].map((name) => [name, script]));
  registry.add({ name: 'inner-scripts', manifest: { ...module_, scripts }, files: index });
  registry.add({ name: 'scripts', manifest: { ...module_, scripts, gypfile: true, dependencies: { 'inner-scripts': '*' } }, files: { ...index, 'binding.gyp': `{"targets":[{"target_name":"<!(${script})"}]}` } });
  const seen = await jar.inside(() => cp.execSync('find / -xdev -name script-ran -not -path "/proc/*" 2>/dev/null; ps -e -o args= 2>/dev/null | grep "sleep 100[0]"; true').toString(), { dependencies: list(['scripts']) });
  assert.equal(seen, '');
  assert.deepEqual(jar.watch.sandboxed().programs, []);
});

test('NP04 what a session wrote for npm does not change what is installed', async (t) => {
  registry.add({ name: 'wanted', manifest: { ...module_, scripts: { postinstall: 'touch /workspace/script-ran' } }, files: { 'index.js': 'export default "wanted";\n' } });
  const session = await jar.session(t);
  const settings = [`registry=${stranger.url}`, `@corp:registry=${stranger.url}`, 'ignore-scripts=false', 'script-shell=/workspace/evil', 'git=/workspace/evil', 'node-options=--require=/workspace/evil.cjs', 'prefix=/tmp/prefix', 'cache=/workspace/cache', 'global=true', 'dry-run=true', 'omit=prod', 'before=2001-01-01'].join('\n');
  await jar.inside(({ settings }) => {
    for (const place of ['/workspace/.npmrc', '/home/node/.npmrc', '/tmp/.npmrc', '/workspace/npmrc']) fs.writeFileSync(place, settings);
    fs.writeFileSync('/workspace/evil', '#!/bin/sh\ntouch /workspace/evil-ran\n', { mode: 0o755 });
    fs.writeFileSync('/workspace/evil.cjs', 'require("fs").writeFileSync("/workspace/evil-ran", "")');
    fs.writeFileSync('/workspace/package.json', JSON.stringify({ type: 'module', scripts: { preinstall: '/workspace/evil' }, overrides: { wanted: 'file:/etc' }, dependencies: { evil: '1' } }));
    fs.writeFileSync('/workspace/package-lock.json', JSON.stringify({ lockfileVersion: 3, packages: { '': { dependencies: { wanted: '*' } }, 'node_modules/wanted': { version: '6.6.6', resolved: 'http://127.0.0.1:1/evil.tgz' } } }));
    fs.mkdirSync('/workspace/node_modules/evil', { recursive: true });
    fs.symlinkSync('/tmp', '/workspace/node_modules/wanted');
  }, { in: session, data: { settings } });
  const seen = await jar.inside(async () => ({
    value: (await import('wanted')).default,
    evil: ['/workspace/evil-ran', '/workspace/script-ran', '/tmp/prefix', '/workspace/cache', '/workspace/node_modules/evil', '/tmp/index.js'].filter((path) => fs.existsSync(path)),
  }), { in: session, dependencies: list(['wanted']) });
  assert.deepEqual(seen, { value: 'wanted', evil: [] });
  assert.deepEqual(stranger.requests, []);
});

test('what a session put in the place of its packages is replaced, not followed', async (t) => {
  registry.add({ name: 'wanted', manifest: module_, files: index });
  for (const trap of ['ln -s /tmp/elsewhere node_modules', 'ln -s /etc node_modules', 'mkfifo node_modules', 'touch node_modules', 'mkdir -p node_modules && ln -s /tmp/elsewhere node_modules/wanted', 'ln -s /tmp/elsewhere/lock package-lock.json', 'mkdir -p package-lock.json/x']) {
    const session = await jar.session(t);
    await jar.exec(session, `mkdir /tmp/elsewhere; cd /workspace; ${trap}`);
    const result = await within(20_000, `an answer after ${trap}`, jar.server.call('run_js', { container_id: session, code: 'import v from "wanted"; console.log(v)', dependencies: list(['wanted']) }));
    assert.equal(result.stdout, '1\n', `${trap}: ${result.text}`);
    assert.equal((await jar.exec(session, 'ls -A /tmp/elsewhere')).text.trim(), '', trap);
    await jar.server.call('sandbox_stop', { container_id: session });
  }
});

test('NP05 a package that needs something from git, a URL, a path or an alias of those is not installed', async () => {
  for (const [name, spec] of Object.entries({
    git: `git+http://127.0.0.1:${new URL(stranger.url).port}/x.git`, ssh: 'git+ssh://git@127.0.0.1/x.git', hosted: 'github:a/b', remote: `${stranger.url}x.tgz`, file: 'file:/etc', path: '../../../../etc',
  })) {
    registry.add({ name: `wants-${name}`, manifest: { ...module_, dependencies: { inner: spec } }, files: index });
    const result = await install(`wants-${name}`);
    assert.equal(result.isError, true, `${spec}: ${result.text}`);
    assert.match(result.text.split('\n')[0], /EALLOW|not from the registry|npm failed/, spec);
  }
  assert.deepEqual(stranger.requests, []);
});

test('NP06 archives write nothing outside their package, and neither links nor devices into it', async () => {
  const evil = {
    '../../../escaped': 'out', '/tmp/escaped': 'out', '../../../../../../../../tmp/escaped': 'out', 'a/../../../../escaped': 'out',
    'symbolic': { link: '/etc/passwd' }, 'up': { link: '../../..' }, 'hard': { type: '1', link: '/etc/passwd' }, 'hard-up': { type: '1', link: '../../../package.json' },
    'character': { type: '3' }, 'block': { type: '4' }, 'fifo': { type: '6' }, '../other/index.js': 'replaced', '.npmrc': 'ignore-scripts=false', 'node_modules/inner/index.js': '1',
  };
  // npm leaves links out of what it unpacks, and so do we.
  const harmless = ['.npmrc', 'node_modules/inner/index.js', 'symbolic', 'up', 'hard', 'hard-up'];
  registry.add({ name: 'other', manifest: module_, files: index });
  for (const [path, content] of Object.entries(evil)) {
    registry.add({ name: 'archive', bytes: tarball({ 'package.json': '{"name":"archive","version":"1.0.0"}', ...index, [path]: content, ...(path === 'up' && { 'up/escaped': 'out' }) }) });
    const result = await install('archive', 'other');
    if (harmless.includes(path)) assert.equal(result.stdout, 'ran\n', `${path}: ${result.text}`);
    else assert.match(result.text, /archive 1\.0\.0: the archive is not a proper npm package/, path);
    if (harmless.includes(path)) assert.deepEqual(Object.values(await installed(['archive', 'other'])).filter((kind) => !['file', 'directory'].includes(kind)), [], path);
  }
  const kinds = Object.entries(await installed(['archive', 'other']));
  assert.deepEqual(kinds.filter(([, kind]) => !['file', 'directory'].includes(kind)), []);
  assert.deepEqual(kinds.filter(([path]) => !/^node_modules\/(archive|other|\.package-lock\.json)/.test(path)), []);
  assert.equal(existsSync('/tmp/escaped'), false);
});

test('NP06 names in a package’s own description lead nowhere else', async () => {
  registry.add({ name: 'commands', manifest: { ...module_, bin: { '../../../escaped': 'index.js', '/tmp/escaped': 'index.js', out: '../../../../etc/passwd', node: 'index.js', tar: 'index.js', sh: 'index.js' }, man: ['../../../../etc/passwd'], directories: { bin: '../../..' } }, files: index });
  const seen = await installed(['commands']);
  const links = Object.entries(seen).filter(([, kind]) => kind.startsWith('->'));
  for (const [path, kind] of links) assert.match(`${path} ${kind}`, /^node_modules\/\.bin\/[^/]+ -> \.\.\/commands\/[a-z./]*$/);
  for (const [path, kind] of links) assert.doesNotMatch(kind, /commands\/.*\.\./, path);
  for (const inner of ['../../x', '/etc/x', '.bin']) {
    registry.add({ name: 'needs-odd', manifest: { ...module_, dependencies: { [inner]: '1' } }, files: index });
    const result = await install('needs-odd');
    assert.equal(result.isError, true, inner);
    assert.equal((await jar.server.run('console.log(1)')).stdout, '1\n');
  }
});

test('NP09 a decompression bomb ends at the limit of a package', async () => {
  const mebibytes = 1024; // a tarball of 1 MiB
  const zeros = gzipSync(Buffer.alloc(1 << 20), { level: 9 });
  const head = gzipSync(header('package/zeros', { size: mebibytes * 2 ** 20 }));
  registry.add({ name: 'bomb', bytes: Buffer.concat([head, ...Array.from({ length: mebibytes }, () => zeros), gzipSync(Buffer.alloc(1024))]) });
  const result = await within(30_000, 'an answer', install('bomb'));
  assert.equal(result.isError, true);
  assert.match(result.text.split('\n')[0], /bomb 1\.0\.0: the archive unpacks to more than 512 MiB/);
});

test('NP09 a hundred thousand files end at the limit of a package', async (t) => {
  const own = Server.start(t, { env: { npm_config_registry: registry.url, BELLJAR_INSTALL_TIMEOUT: '40000' } });
  await own.initialize();
  registry.add({ name: 'many', files: Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`d${i % 100}/${i}`, ''])) });
  const result = await within(45_000, 'an answer', own.run('console.log("ran")', { dependencies: list(['many']) }));
  assert.equal(result.isError, true);
  assert.match(result.text.split('\n')[0], /many 1\.0\.0: the archive has more than 50000 entries/);
});

test('NP09 a tarball that is too large is not fetched to its end', async () => {
  registry.add({ name: 'large', bytes: Buffer.alloc(8) });
  let sent = 0;
  for (const head of [{ 'content-length': 300 << 20 }, {}]) {
    registry.answer = (request, response) => {
      if (!request.url.includes('large/-/')) return false;
      response.writeHead(200, head);
      const piece = Buffer.alloc(1 << 20);
      const push = () => {
        while (!response.destroyed && sent < 600 << 20) {
          sent += piece.length;
          if (!response.write(piece)) return response.once('drain', push);
        }
      };
      push();
      return true;
    };
    const result = await install('large');
    assert.equal(result.isError, true);
    assert.match(result.text.split('\n')[0], /large 1\.0\.0 has more than 256 MiB/);
  }
  registry.answer = () => false;
  assert.ok(sent < 600 << 20, `${sent >> 20} MiB were fetched`);
});

test('NP13 a native addon makes system calls under the same filter', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'belljar-np13-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const source = join(directory, 'addon.c');
  // unshare(CLONE_NEWUSER), mount(), ptrace(PTRACE_TRACEME), bpf(), io_uring_setup(): prints minus the error numbers.
  writeFileSync(source, `static long call(long n, long a, long b, long c) { long r; __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory"); return r; }
    __attribute__((constructor)) static void run(void) { static const long numbers[] = {272, 165, 101, 321, 425};
      for (int i = 0; i < 5; i++) { long r = call(numbers[i], i == 0 ? 0x10000000 : 0, 0, 0); char text[4] = {'0' + (char)(-r / 10), '0' + (char)(-r % 10), ' ', 0}; if (r >= 0) text[0] = '!'; call(1, 1, (long)text, 3); } }`);
  const compiler = spawnSync('clang-19', ['--version']).status === 0 ? 'clang-19' : 'cc';
  execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-nostdlib', '-fno-stack-protector', '-o', join(directory, 'addon.node'), source]);
  registry.add({ name: 'native', manifest: { ...module_ }, files: { 'index.js': 'try { process.dlopen({ exports: {} }, import.meta.dirname + "/addon.node"); } catch {}\n', 'addon.node': readFileSync(join(directory, 'addon.node')) } });
  const result = await jar.server.run('import "native"', { dependencies: list(['native']) });
  const { EPERM, ENOSYS, EACCES } = { EPERM: '01', ENOSYS: '38', EACCES: '13' };
  const seen = result.stdout.trim().split(' ');
  assert.equal(seen.length, 5, result.text);
  for (const error of seen) assert.ok([EPERM, ENOSYS, EACCES].includes(error), result.stdout);
});

test('NP14 a package cannot change Node.js, npm or what is installed for others', async () => {
  registry.add({ name: 'vandal', manifest: { ...module_ }, files: { 'index.js': `import fs from 'node:fs';
    const outcome = (what) => { try { what(); return 'ok'; } catch (error) { return error.code; } };
    export default Object.fromEntries(['/usr/local/bin/node', '/usr/local/lib/node_modules/npm/bin/npm-cli.js', '/usr/local/lib/node_modules/npm/package.json', '/usr/local/lib/node_modules/corepack/package.json']
      .flatMap((path) => [[path, outcome(() => fs.appendFileSync(path, 'x'))], [path + ' removed', outcome(() => fs.unlinkSync(path))], [path + ' beside', outcome(() => fs.writeFileSync(path + '.new', ''))]]));` } });
  const seen = await jar.inside(async () => (await import('vandal')).default, { dependencies: list(['vandal']) });
  onlyThese(seen, refusals, 'ENOTDIR');
});

test('a hostile process that turns packages into links while they arrive changes its own sandbox only', async (t) => {
  registry.add({ name: 'wide', manifest: module_, files: { ...index, ...Object.fromEntries(Array.from({ length: 800 }, (_, i) => [`d${i % 50}/${i}`, String(i)])) } });
  const session = await jar.session(t);
  await jar.exec(session, `perl -e 'if (fork == 0) { open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null"); setpgrp; chdir "/workspace"; my $n = 0;
    while (1) { for my $d (0 .. 49) { my $p = "node_modules/wide/d$d"; if (rename($p, "/tmp/moved" . $n++)) { symlink("/etc", $p) } } } }'`);
  const start = () => jar.server.call('run_js', { container_id: session, code: 'console.log("ran")', dependencies: list(['wide']) });
  const result = await within(30_000, 'an answer', start());
  assert.ok(result.isError || result.stdout === 'ran\n', result.text);
  const { stdout } = await install('wide');
  assert.equal(stdout, 'ran\n', 'others are not disturbed');
});

test('NP17 a package called like a command is a package', async () => {
  for (const name of ['npx', 'node', 'install', 'exec', 'help', 'true']) registry.add({ name, manifest: { ...module_, bin: { [name]: 'index.js' } }, files: index });
  const seen = await installed(['npx', 'node', 'install', 'exec', 'help', 'true']);
  assert.ok(['npx', 'node', 'install', 'exec', 'help', 'true'].every((name) => seen[`node_modules/${name}`] === 'directory'));
});

test('nothing of all these installations stays on the host', () => {
  const data = process.env.BELLJAR_DATA_DIR ?? join(process.env.XDG_DATA_HOME ?? `${process.env.HOME}/.local/share`, 'belljar');
  assert.deepEqual(readdirSync(join(data, 'downloads')), []);
});
