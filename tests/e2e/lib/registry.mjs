// A real npm registry (Verdaccio) on loopback, with packages of our making and no way to any other registry.
//
//   const registry = await startRegistry();              // with all `fixtures` of fixtures.mjs, about 2 s
//   const registry = await startRegistry({ packages: [{ name: 'a', version: '1.0.0', files: { 'index.js': '…' } }] });
//   registry.url                                         // "http://127.0.0.1:PORT/"
//   registry.token                                       // of the one user; @private/… can be read with it only
//   registry.npmrc(path)                                 // writes a npm configuration with both; returns the path
//   registry.npmrc(path, { token: false })               // … without the token
//   await registry.publish({ name, version, … })         // one more
//   await registry.unreachable() / registry.stop()       // ends it; stop() also removes its directory
//
// To make belljar use it: env: { npm_config_userconfig: registry.npmrc(`${directory}/npmrc`) }.
//
// A package: { name, version, files, manifest, readme, tags }. `files` is path → text, bytes or { link }; package.json is made
// of name, version and `manifest` (dependencies, bin, scripts, types, …) unless it is among the files. `tags` are the dist-tags
// that point to this version, ["latest"] unless given. Versions of one name are published in the order given.
import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';

import { fixtures } from './fixtures.mjs';
import { tarball } from './tarball.mjs';
import { within } from './wait.mjs';

const program = fileURLToPath(new URL('./registry_server.mjs', import.meta.url));

// JSON is YAML.
const configuration = (directory) => ({
  storage: `${directory}/storage`,
  auth: { htpasswd: { file: `${directory}/users`, algorithm: 'sha1', max_users: 1 } },
  uplinks: {},
  packages: {
    '@private/*': { access: '$authenticated', publish: '$authenticated' },
    '**': { access: '$all', publish: '$authenticated' },
  },
  web: { enable: false },
  log: { type: 'stdout', format: 'json', level: 'warn' },
  max_body_size: '100mb',
});

// What `npm publish` sends.
function document(url, { name, version, files = {}, manifest = {}, readme = '', tags = ['latest'] }) {
  const described = { name, version, description: `fixture ${name}`, ...manifest };
  const bytes = tarball({ 'package.json': JSON.stringify(described, null, 2), ...files });
  const file = `${name}-${version}.tgz`;
  const dist = {
    integrity: `sha512-${createHash('sha512').update(bytes).digest('base64')}`,
    shasum: createHash('sha1').update(bytes).digest('hex'),
    tarball: `${url}${name}/-/${file.split('/').at(-1)}`,
  };
  return {
    _id: name,
    name,
    description: described.description,
    'dist-tags': Object.fromEntries(tags.map((tag) => [tag, version])),
    versions: { [version]: { ...described, _id: `${name}@${version}`, readme, dist } },
    readme,
    access: null,
    _attachments: {
      [file]: { content_type: 'application/octet-stream', data: bytes.toString('base64'), length: bytes.length },
    },
  };
}

class Registry {
  constructor(directory, child, url) {
    this.directory = directory;
    this.child = child;
    this.url = url;
  }

  async #put(path, body) {
    const headers = { 'content-type': 'application/json', ...(this.token && { authorization: `Bearer ${this.token}` }) };
    const answer = await fetch(this.url + path, { method: 'PUT', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`the registry answers PUT ${path} with ${answer.status}: ${text}`);
    return JSON.parse(text);
  }

  async addUser() {
    const user = { name: 'tester', password: 'only-for-tests' };
    this.token = (await this.#put('-/user/org.couchdb.user:tester', user)).token;
  }

  async publish(described) {
    const { tags = ['latest'], name, version } = described;
    // A publication has one tag; the others are set afterwards, as npm does.
    await this.#put(name.replace('/', '%2f'), document(this.url, { ...described, tags: tags.slice(0, 1) }));
    for (const tag of tags.slice(1)) await this.#put(`-/package/${name.replace('/', '%2f')}/dist-tags/${tag}`, version);
  }

  npmrc(path, { token = true } = {}) {
    const lines = [`registry=${this.url}`, 'audit=false', 'fund=false', 'update-notifier=false'];
    if (token) lines.push(`${this.url.replace(/^http:/, '')}:_authToken=${this.token}`);
    writeFileSync(path, `${lines.join('\n')}\n`, { mode: 0o600 });
    return path;
  }

  async unreachable() {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGKILL'); // it holds nothing that is worth a farewell
    await within(10_000, 'Verdaccio to end', gone);
  }

  async stop() {
    await this.unreachable();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export async function startRegistry({ packages = fixtures } = {}) {
  const directory = mkdtempSync(`${tmpdir()}/belljar-registry-`);
  writeFileSync(`${directory}/config.yaml`, JSON.stringify(configuration(directory)));
  const child = fork(program, [`${directory}/config.yaml`], { stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  let complaint = '';
  child.stderr.setEncoding('utf8').on('data', (text) => (complaint += text));
  const started = new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code, signal) => reject(new Error(`Verdaccio ended (${code ?? signal}): ${complaint}`)));
  });
  const { port } = await within(30_000, 'Verdaccio to start', started);
  const registry = new Registry(directory, child, `http://127.0.0.1:${port}/`);
  await registry.addUser();
  for (const described of packages) await registry.publish(described);
  return registry;
}
