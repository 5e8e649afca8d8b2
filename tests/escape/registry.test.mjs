// NP: hostile registries, and what an installation gives to whoever waits for one.
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';

import { ownDirectory } from '../e2e/lib/directories.mjs';
import { npmProcesses } from '../e2e/lib/proc.mjs';
import { startTinyRegistry } from '../e2e/lib/tiny_registry.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { dataDirectory, home } from './lib/host.mjs';
import { openJar } from './lib/jar.mjs';

const directory = ownDirectory('belljar-np-');
after(() => rmSync(directory, { recursive: true }));
const run = promisify(execFile); // not a synchronous one: the registry is in this process
const token = `npm_${'t0ken'.repeat(7)}`;

// What is public, what the scope @corp is mapped to, and a place to which a registry may point.
const registry = await startTinyRegistry();
const corporate = await startTinyRegistry();
const stranger = await startTinyRegistry();
after(() => [registry, corporate, stranger].forEach((one) => one.stop()));
const userconfig = join(directory, 'npmrc');
writeFileSync(userconfig, [
  `registry=${registry.url}`,
  `@corp:registry=${corporate.url}`,
  `${corporate.url.slice('http:'.length)}:_authToken=${token}`,
].join('\n'));

const jar = openJar({ env: { npm_config_userconfig: userconfig, BELLJAR_INSTALL_TIMEOUT: '30000' } });
const list = (packages) => packages.map((name) => ({ name, version: '*' }));
const install = (...names) => jar.server.run('console.log("ran")', { dependencies: list(names) });
const module_ = { type: 'module', main: 'index.js' };
const index = { 'index.js': 'export default 1;\n' };
corporate.add({ name: '@corp/tool', version: '1.0.0', manifest: module_, files: { 'index.js': 'export default "own";\n' } });

test('NP12 a scope comes from the operator’s registry only, and its token goes nowhere else', async () => {
  registry.add({ name: '@corp/tool', version: '99.0.0', manifest: module_, files: { 'index.js': 'export default "confused";\n' } });
  registry.add({ name: 'public', manifest: { ...module_, dependencies: { '@corp/tool': '*' } }, files: { 'index.js': 'export { default } from "@corp/tool";\n' } });
  corporate.add({ name: '@corp/moved', manifest: module_, files: index });
  corporate.answer = (request, response) => request.url.endsWith('moved/-/1.0.0.tgz') && (response.writeHead(302, { location: `${stranger.url}moved.tgz` }).end(), true);
  stranger.tarballs.set('/moved.tgz', corporate.tarballs.get('/@corp/moved/-/1.0.0.tgz'));
  registry.requests.length = 0;
  const result = await jar.server.run('import a from "@corp/tool"; import b from "public"; import "@corp/moved"; console.log(a, b)', { dependencies: list(['@corp/tool', 'public', '@corp/moved']) });
  assert.equal(result.stdout, 'own own\n', result.text);
  assert.ok(corporate.requests.every(({ headers }) => headers.authorization === `Bearer ${token}`));
  assert.ok(corporate.requests.length > 0 && stranger.requests.length > 0);
  for (const { url, headers } of [...registry.requests, ...stranger.requests]) assert.equal(headers.authorization, undefined, url);
  assert.deepEqual(registry.requests.filter(({ url }) => url.includes('corp')), []);
  corporate.answer = () => false;
});

// Installs while `held` waits for its tarball; `use` gets npm's process, the port of its registry, and the answer to come.
async function during(start, use) {
  // Only npm can tell what a package with another one in it means, and it must have its tarball for that.
  const bundle = { dependencies: { inner: '*' }, bundleDependencies: ['inner'] };
  registry.add({ name: 'held', manifest: { ...module_, ...bundle }, files: { ...index, 'node_modules/inner/package.json': '{"name":"inner","version":"1.0.0"}' } });
  registry.requests.length = 0;
  let release;
  registry.answer = (request, response) => request.url.includes('held/-/') && ((release = () => response.end(registry.tarballs.get('/held/-/1.0.0.tgz'))), true);
  const answer = start();
  try {
    await registry.asked('held/-/');
    const [npm] = npmProcesses(jar.server.pid);
    const ports = readFileSync(`/proc/${npm.pid}/net/tcp`, 'utf8').split('\n').filter((line) => / 0A /.test(line)).map((line) => parseInt(/:([0-9A-F]{4}) /.exec(line)[1], 16));
    assert.equal(ports.length, 1, 'one address is there, and nothing else listens');
    await use({ npm, port: ports[0] });
  } finally {
    registry.answer = () => false;
    release?.();
  }
  return await answer;
}

test('NP02 npm has no credential, no configuration of the host and none of its addresses', async () => {
  const result = await during(() => install('held', '@corp/tool'), ({ npm }) => {
    const root = `/proc/${npm.pid}/root`;
    const words = [token, ...[registry, corporate].map(({ url }) => new URL(url).host), userconfig];
    const texts = npm.commandLine + readFileSync(`/proc/${npm.pid}/environ`, 'latin1');
    for (const word of words) assert.ok(!texts.includes(word), word);
    const filesWith = (...all) => String(spawnSync('grep', ['-rasl', '-D', 'skip', ...all.flatMap((word) => ['-e', word]), ...['home', 'tmp', 'workspace', 'etc'].map((place) => `${root}/${place}`)]).stdout);
    assert.match(filesWith('held'), /workspace\/package\.json/, 'this is where npm works');
    assert.equal(filesWith(...words), '');
    assert.ok(!existsSync(`${root}${home}/.npmrc`));
  });
  assert.equal(result.stdout, 'ran\n', result.text);
});

test('inside an install sandbox there is one address, and it knows packages only', async () => {
  // Runs on the host, but in npm's network: sends each text to a port of 127.0.0.1; the first line of each answer.
  const speak = `const net = require('node:net');
    const [port, ...texts] = JSON.parse(process.argv[1]);
    const ask = (text) => new Promise((resolve) => {
      let answer = '';
      const socket = net.connect(port, '127.0.0.1', () => socket.write(text));
      socket.setTimeout(2000, () => socket.destroy());
      socket.on('data', (bytes) => { answer += bytes; if (answer.includes('\\r\\n\\r\\n')) socket.destroy(); });
      socket.on('error', (error) => (answer += error.code));
      socket.on('close', () => resolve(answer.split('\\r\\n')[0]));
    });
    Promise.all(texts.map(ask)).then((answers) => process.stdout.write(JSON.stringify(answers)));`;
  const inNetworkOf = async (pid, ...data) =>
    JSON.parse((await run('nsenter', [`--net=/proc/${pid}/ns/net`, process.execPath, '-e', speak, JSON.stringify(data)])).stdout);
  const { host, port: realPort } = new URL(registry.url);
  const secrets = ['/-/whoami', '/-/npm/v1/user', '/-/v1/search?text=a', '/-/all', '/', '//', `//${host}/held`, `http://${host}/held`, `http://169.254.169.254/`, '/held?x=1', '/held/1.0.0', '/held/-/1.0.0.tgz', '/../held', '/%2e%2e/held', '/held%00', '/held/../../etc/passwd', '/@corp%2f..%2fheld', '/-/tarball/held/9.9.9.tgz', '/-/tarball/held/../held/1.0.0.tgz', '/-/tarball/wanted/1.0.0.tgz', '/-/tarball//etc/passwd.tgz', '*', 'held', `/${'a'.repeat(15_000)}`];
  const get = (target) => `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer x\r\n\r\n`;
  const odd = [`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 'PUT /held HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}', 'DELETE /held HTTP/1.1\r\nHost: x\r\n\r\n', 'POST /-/npm/v1/security/advisories/bulk HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n', 'GET /held HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '\x16\x03\x01\0\0\r\n\r\n', `GET /held HTTP/1.1\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`];
  await during(() => install('held'), async ({ npm, port }) => {
    assert.match((await inNetworkOf(npm.pid, port, get('/held')))[0], /^HTTP\/1\.1 200 /, 'the way in is the right one');
    const asked = registry.requests.length;
    const answers = await inNetworkOf(npm.pid, port, ...secrets.map(get), ...odd);
    for (const [i, line] of answers.entries()) assert.match(line, /^HTTP\/1\.1 4\d\d /, [...secrets, ...odd][i].slice(0, 80));
    assert.equal(registry.requests.length, asked, 'the registry is not asked for any of that');
    assert.deepEqual(await inNetworkOf(npm.pid, Number(realPort), get('/held')), ['ECONNREFUSED']);
    assert.deepEqual(Object.keys(JSON.parse((await run('nsenter', [`--net=/proc/${npm.pid}/ns/net`, process.execPath, '-p', 'JSON.stringify(require("node:os").networkInterfaces())'])).stdout)), ['lo']);
    assert.equal(readFileSync(`/proc/${npm.pid}/net/route`, 'utf8').trim().split('\n').length, 1, 'there is no route');
  });
  assert.deepEqual(stranger.requests.filter(({ method }) => method === 'CONNECT'), []);
});

test('a hostile process of a session cannot reach the installation that the session waits for', async (t) => {
  const session = await jar.session(t);
  const start = () => jar.server.call('run_js', { container_id: session, code: 'import v from "held"; console.log(v)', dependencies: list(['held']) });
  const result = await during(start, async ({ npm, port }) => {
    const seen = await jar.inside(async ({ port }) => {
      const connected = await new Promise((resolve) => {
        const socket = net.connect(port, '127.0.0.1', () => resolve('ok'));
        socket.on('error', (error) => resolve(error.code));
      });
      const commands = fs.readdirSync('/proc').filter((name) => Number(name)).map((pid) => attempt(() => fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8')).value ?? '');
      return { connected, npm: commands.some((line) => /npm-cli|npm install/.test(line)), workspace: fs.readdirSync('/workspace').filter((name) => /node_modules|lock/.test(name)) };
    }, { in: session, data: { port } });
    assert.deepEqual(seen, { connected: 'ECONNREFUSED', npm: false, workspace: [] });
    assert.notEqual(npm, undefined);
  });
  assert.equal(result.stdout, '1\n', result.text);
});

test('NP16 a registry that is slow, says no or talks nonsense ends in a clear error and holds nobody up', async () => {
  registry.add({ name: 'slow', manifest: module_, files: index });
  const answers = {
    'answers.*status 429': (response) => response.writeHead(429, { 'retry-after': '3600' }).end(),
    'slow': (response) => response.writeHead(200).end('<html>'.repeat(1000)),
    'slow ': (response) => response.writeHead(302, { location: '/slow' }).end(),
    ' slow': (response) => response.writeHead(200, { 'content-length': 100 }).end('{}', () => response.destroy()),
    'slow  ': (response) => response.writeHead(200).end(`{"versions":{"1.0.0":${'{"a":'.repeat(100_000)}`),
  };
  for (const [expected, answer] of Object.entries(answers)) {
    registry.answer = (request, response) => request.url.startsWith('/slow') && (answer(response), true);
    const result = await within(20_000, 'an answer', install('slow'));
    assert.equal(result.isError, true);
    assert.match(result.text.split('\n')[0], new RegExp(expected.trim()));
  }
  registry.answer = (request) => request.url.startsWith('/slow');
  const waiting = install('slow');
  await until('the registry to be asked', () => registry.requests.at(-1).url.startsWith('/slow'));
  assert.equal((await within(5_000, 'the neighbour', jar.server.run('console.log("neighbour")'))).stdout, 'neighbour\n');
  registry.server.closeAllConnections();
  registry.answer = () => false;
  await within(20_000, 'an answer after the connection broke', waiting);
});

test('nothing of all these installations stays on the host', () => {
  assert.deepEqual(readdirSync(join(dataDirectory, 'downloads')), []);
});
