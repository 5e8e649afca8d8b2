// A lab with HTTPS servers, and a belljar in it that has secrets for some of them.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { chownSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { ownDirectory, user } from '../../e2e/lib/directories.mjs';
import { families, secure } from './addresses.mjs';
import { Bench, inside } from './bench.mjs';
import { Authority } from './certificates.mjs';
import { Lab } from './lab.mjs';

const helpers = readFileSync(new URL('secure_outward.mjs', import.meta.url), 'utf8');
const untrusted = ['stolen.test', 'mistaken.test', 'expired.test', 'old.test', 'resetting.test'];

export const placeholder = (name) => `belljar-secret-${name}`;
// What a program brings along, and what must not arrive where a secret is for.
export const own = 'credential-of-the-program';
// The text of a request: its lines, and the empty one.
export const head = (...lines) => [...lines, '', ''].join('\r\n');
// The request that most tests send; the connection ends after the answer.
export const getting = (target, ...lines) => head(`GET ${target} HTTP/1.1`, 'Host: api.test', ...lines, 'Connection: close');
export const bearer = (value) => `Authorization: Bearer ${value}`;
export const valuesOf = ({ headers }, name) => headers.filter(([one]) => one.toLowerCase() === name.toLowerCase()).map(([, value]) => value);

export class SecretsBench extends Bench {
  helpers = helpers;
  directory; // of the user that belljar runs as
  authority; // which the operator trusts
  otherAuthority;
  values = Object.fromEntries(['github', 'second', 'second-two', 'second-key', 'ported'].map((name) => [name, `canary-${name}-${randomBytes(12).toString('hex')}`]));

  // Everybody without belljar.
  async startLab() {
    this.lab = await Lab.start();
    this.directory = ownDirectory('belljar-secrets-');
    process.once('exit', () => rmSync(this.directory, { recursive: true, force: true }));
    this.authority = new Authority(this.directory, 'authority');
    this.otherAuthority = new Authority(this.directory, 'other-authority');
    const { world } = this.lab;
    world.sh(...Object.values(secure).flatMap(({ v4, v6 }) => [`ip address add ${v4}/32 dev wire`, `ip address add ${v6}/128 dev wire nodad`]));
    const good = this.authority.issue(['api.test', 'second.test', 'ported.test', 'ordinary.test']);
    const tls = {
      api: [good, [443, 8443]],
      otherAuthority: [this.otherAuthority.issue(['api.test', 'stolen.test']), [443]],
      otherName: [this.authority.issue(['ordinary.test']), [443]],
      expired: [this.authority.issue(['expired.test'], { expired: true }), [443]],
      oldVersion: [{ ...this.authority.issue(['old.test']), minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, [443]],
    };
    await Promise.all(families.flatMap((family) => [
      ...Object.entries(tls).flatMap(([who, [options, ports]]) => ports.map((port) => world.ask('tls', { address: secure[who][family], port, ...options }))),
      ...['resetter', 'echo', 'greeter', 'discard'].map((kind) => world.ask('tcp', { kind, address: secure[kind][family], port: 443 })),
    ]));
  }

  async start() {
    await this.startLab();
    this.server = await this.serveSecrets(null);
  }

  // A file that only belljar's user can read.
  write(name, text) {
    const path = join(this.directory, name);
    writeFileSync(path, text, { mode: 0o600 });
    chownSync(path, user, user);
    return path;
  }

  // The operator's configuration: four ways to have a secret.
  configuration() {
    const file = (name) => JSON.stringify(this.write(`${name}.secret`, `${this.values[name]}\n`));
    return `
[secrets.github]
hosts = ${JSON.stringify(['api.test', ...untrusted])}
header = "Authorization"
variable = "GITHUB_TOKEN"
value-file = ${file('github')}

[secrets.second]
hosts = ["second.test"]
value-file = ${file('second')}

[secrets.second-two]
hosts = ["second.test"]
value-file = ${file('second-two')}

[secrets.second-key]
hosts = ["second.test"]
header = "X-Api-Key"
value-env = "LAB_SECOND_KEY"

[secrets.ported]
hosts = ["ported.test:8443"]
variable = "PORTED_TOKEN"
value-file = ${file('ported')}
`;
  }

  // The environment of a belljar with these secrets, which trusts the lab's authority.
  secretive(configuration = this.configuration()) {
    return { BELLJAR_CONFIG: this.write('belljar.toml', configuration), LAB_SECOND_KEY: this.values['second-key'], SSL_CERT_FILE: this.authority.file, BELLJAR_MAX_NETWORK: 'host' };
  }

  serveSecrets(t, env = {}) {
    return this.serve(t, { ...this.secretive(), ...env });
  }

  // As `inside`, on another belljar.
  async on(server, action, options) {
    await this.lab.reset();
    return inside(server, action, { helpers, ...options });
  }

  // Says a text to api.test, or to the host in the options, from a sandbox: what was heard until the end.
  async tell(text, options = {}, more = {}) {
    return (await this.inside(({ text, options }) => tell(text, options), { data: { text, options }, ...more })).seen;
  }

  // Sends each of the texts, { name: text }, on a connection of its own. All are refused, and nothing of them leaves.
  async refuses(status, texts, options = {}) {
    const result = await this.inside(({ texts, options }) => tellAll(texts, options), { data: { texts, options } });
    for (const [name, answer] of Object.entries(result.seen)) {
      assert.match(answer, new RegExp(`^HTTP/1\\.1 (${status}) `), `${name}: ${answer}`);
      assert.match(answer, /\r\ncontent-type: *text\/plain\b[^]*\r\n\r\nbelljar: /i, `${name}: ${answer}`);
      assert.equal(this.leaked(answer), undefined, name);
    }
    assert.equal(Object.keys(result.seen).length, Object.keys(texts).length);
    assert.equal(await this.said(), '');
    return result;
  }

  // Every request that came to an HTTPS server of the world, with where it came to.
  async requests() {
    const { secure: connections } = await this.lab.log();
    return connections.flatMap(({ requests, serverName, to, port }) => requests.map((request) => ({ ...request, serverName, to, port })));
  }

  // All that was said to HTTPS servers of the world.
  async said() {
    return (await this.lab.log()).secure.map(({ text }) => text).join('');
  }

  // The first of the secrets that is in the text, if there is one.
  leaked(text) {
    return Object.values(this.values).find((value) => text.includes(value));
  }
}
