// Secrets of the operator: programs have a placeholder, and the host that a secret is for gets the value.
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { describe, test } from 'node:test';

import { until } from '../e2e/lib/wait.mjs';
import { families, secure as places } from './lib/addresses.mjs';
import { openBench, session } from './lib/bench.mjs';
import { bearer, getting, head, own, placeholder, SecretsBench, valuesOf } from './lib/secrets_bench.mjs';

const bench = openBench(new SecretsBench());
const token = placeholder('github');
const variables = () => Object.fromEntries(['GITHUB_TOKEN', 'GITHUB', 'SECOND', 'SECOND_TWO', 'SECOND_KEY', 'PORTED_TOKEN', 'PORTED'].filter((name) => name in process.env).map((name) => [name, process.env[name]]));
const github = { GITHUB_TOKEN: token };
const second = { SECOND: placeholder('second'), SECOND_TWO: placeholder('second-two'), SECOND_KEY: placeholder('second-key') };
const ported = { PORTED_TOKEN: placeholder('ported') };

describe('a program has', () => {
  const policies = {
    internet: { ...github, ...second, ...ported }, host: { ...github, ...second, ...ported }, 'allow:*.test': { ...github, ...second, ...ported },
    'allow:api.test': github, 'allow:good.test,api.test:80': github, 'allow:stolen.test': github, 'allow:second.test': second, 'allow:ported.test:8443': ported,
    none: {}, 'allow:': {}, 'allow:good.test': {}, 'allow:*.api.test': {}, [`allow:${places.api.v4}`]: {},
  };
  for (const [network, expected] of Object.entries(policies)) {
    test(`the placeholders of the secrets whose hosts it can look up: ${network}`, async () => {
      assert.deepEqual((await bench.inside(variables, { network })).seen, expected);
    });
  }

  test('the same in children, sessions and shell commands', async (t) => {
    const { seen } = await bench.inside(() => cp.execFileSync('node', ['-p', 'process.env.GITHUB_TOKEN'], { encoding: 'utf8' }).trim());
    assert.equal(seen, token);
    const id = await session(t, bench.server, { network: 'allow:api.test' });
    assert.deepEqual((await bench.inside(variables, { in: id })).seen, github);
    const { text } = await bench.server.call('sandbox_exec', { container_id: id, commands: ['echo "<$GITHUB_TOKEN>"'] });
    assert.match(text, new RegExp(`<${token}>`));
  });

  test('what the caller gives it under the name of such a variable', async () => {
    assert.deepEqual((await bench.inside(variables, { network: 'allow:api.test', env: { GITHUB_TOKEN: 'of the caller' } })).seen, { GITHUB_TOKEN: 'of the caller' });
  });

  test('the certificate of an authority that is made anew at every start, and no key', async (t) => {
    const look = () => ({ variable: process.env.NODE_EXTRA_CA_CERTS, own: fs.readFileSync('/etc/ssl/belljar.pem', 'utf8'), all: fs.readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8') });
    const { seen: first } = await bench.inside(look);
    assert.equal(first.variable, '/etc/ssl/belljar.pem');
    assert.equal(first.own.match(/BEGIN/g).length, 1);
    assert.doesNotMatch(first.own, /PRIVATE/);
    const certificate = new X509Certificate(first.own);
    assert.ok(certificate.ca && certificate.verify(certificate.publicKey));
    assert.ok(first.all.includes(first.own.trim()), 'the system\'s certificates have it, too');
    const { seen: second } = await bench.on(await bench.serveSecrets(t), look);
    assert.notEqual(new X509Certificate(second.own).fingerprint256, certificate.fingerprint256);
  });

  test('nothing of this, and nobody looks into connections, when there are no secrets', async (t) => {
    const { seen } = await bench.on(await bench.serve(t, { SSL_CERT_FILE: bench.authority.file }), async () => {
      const { issuer } = await secure('api.test');
      return { issuer, variables: Object.keys(process.env).filter((name) => /TOKEN|SECOND|CERT/.test(name)) };
    });
    assert.deepEqual(seen, { issuer: 'authority', variables: [] });
  });
});

for (const family of families) {
  describe(`a request to the host of a secret, ${family}`, () => {
    const number = family === 'v4' ? 4 : 6;

    test('arrives with the secret where the placeholder was', async () => {
      const { seen, network } = await bench.inside(async ({ family, text }) => {
        const talk = await secure('api.test', { family });
        return { authorized: talk.authorized, issuer: talk.issuer, answer: await talk.say(text).all() };
      }, { data: { family: number, text: getting('/', bearer(token)) } });
      assert.equal(seen.authorized, true, 'programs trust the certificate without doing anything');
      assert.notEqual(seen.issuer, 'authority');
      assert.match(seen.answer, /^HTTP\/1\.1 200 OK\r\n[^]*\r\nX-Odd-Case: as {2}it is\r\n[^]*\r\n\r\nGET \/ was answered$/);
      const { secure: [connection, ...others] } = await bench.lab.log();
      assert.deepEqual([others, connection.to, connection.port, connection.serverName, connection.requests.length], [[], places.api[family], 443, 'api.test', 1]);
      assert.deepEqual(valuesOf(connection.requests[0], 'Authorization'), [`Bearer ${bench.values.github}`]);
      assert.match(connection.version, /^TLSv1\.[23]$/);
      assert.equal(network.length, 1);
      assert.deepEqual({ ...network[0], bytes: 0 }, { host: 'api.test', port: 443, verdict: 'allowed', bytes: 0 });
      assert.ok(network[0].bytes > 0);
    });

    test('goes to the address that was dialled, if its server is the right one', async () => {
      const answer = await bench.tell(getting('/direct', bearer(token)), { host: places.api[family], servername: 'api.test' });
      assert.match(answer, /GET \/direct was answered$/);
      const [request] = await bench.requests();
      assert.deepEqual([request.to, valuesOf(request, 'Authorization')], [places.api[family], [`Bearer ${bench.values.github}`]]);
    });
  });
}

describe('the secret arrives', () => {
  const arrived = async (target) => (await bench.requests()).filter((request) => request.target === target).map((request) => valuesOf(request, 'Authorization'));

  test('from fetch, from https, and from a child', async () => {
    const { seen } = await bench.inside(async () => {
      const headers = { authorization: `Bearer ${process.env.GITHUB_TOKEN}` };
      const child = cp.execFileSync('node', ['-e', "fetch('https://api.test/child', { headers: { authorization: process.env.GITHUB_TOKEN } }).then((answer) => answer.text()).then(console.log)"], { encoding: 'utf8' });
      return [await get('https://api.test/fetch', { headers }), (await request('https://api.test/https', { headers })).body, child.trim()];
    });
    assert.deepEqual(seen, ['fetch', 'https', 'child'].map((name) => `GET /${name} was answered`));
    const value = bench.values.github;
    assert.deepEqual([await arrived('/fetch'), await arrived('/https'), await arrived('/child')], [[[`Bearer ${value}`]], [[`Bearer ${value}`]], [[value]]]);
  });

  test('from curl', async (t) => {
    const { seen } = await bench.inside(() => {
      const { stdout, stderr, error } = cp.spawnSync('curl', ['-sS', '-m', '20', '-H', `Authorization: token ${process.env.GITHUB_TOKEN}`, 'https://api.test/curl'], { encoding: 'utf8' });
      return error ? error.code : stdout + stderr;
    });
    if (seen === 'ENOENT') return t.skip('there is no curl');
    assert.equal(seen, 'GET /curl was answered');
    assert.deepEqual(await arrived('/curl'), [[`token ${bench.values.github}`]]);
  });

  test('with every policy that allows the host', async () => {
    for (const network of ['allow:api.test', 'allow:*.test', 'host']) {
      assert.match(await bench.tell(getting('/policy', bearer(token)), {}, { network }), /GET \/policy was answered$/, network);
      assert.deepEqual(await arrived('/policy'), [[`Bearer ${bench.values.github}`]], network);
    }
  });

  test('whatever the case of the server name, of the host and of the header', async () => {
    const { seen } = await bench.inside(({ token }) => outcomes(Object.fromEntries(['api.test', 'API.TEST', 'Api.Test', 'api.test:443', 'API.test:443'].map((name) => [name, tell(`GET /case HTTP/1.1\r\nhOST: ${name}\r\naUTHorization: Bearer ${token}\r\nConnection: close\r\n\r\n`, { servername: name.replace(/:.*/, '') })]))), { data: { token } });
    for (const [name, answer] of Object.entries(seen)) assert.match(answer, /GET \/case was answered$/, name);
    assert.deepEqual(await arrived('/case'), Array(5).fill([`Bearer ${bench.values.github}`]));
  });

  test('over TLS 1.2 and 1.3, with and without a wish for HTTP/1.1', async () => {
    const { seen } = await bench.inside(async ({ text }) => {
      const protocols = [];
      for (const options of [{ maxVersion: 'TLSv1.2' }, { minVersion: 'TLSv1.3' }, { ALPNProtocols: ['http/1.1'] }, { ALPNProtocols: ['h2', 'http/1.1'] }, {}]) {
        const talk = await secure('api.test', options);
        await talk.say(text).all();
        protocols.push(talk.protocol);
      }
      return protocols;
    }, { data: { text: getting('/versions', bearer(token)) } });
    assert.deepEqual(seen, [false, false, 'http/1.1', 'http/1.1', false]);
    assert.deepEqual(await arrived('/versions'), Array(5).fill([`Bearer ${bench.values.github}`]));
  });

  test('but nothing does from somebody who speaks HTTP/2 only', async () => {
    const { seen } = await bench.inside(() => secure('api.test', { ALPNProtocols: ['h2'] }).then(({ protocol }) => protocol, ({ message }) => message));
    assert.match(seen, /^(ERR_SSL_|ECONNRESET|closed)/);
    assert.equal(await bench.said(), '');
  });

  test('where the port of the host is another one, and only there', async () => {
    const text = head('GET /port HTTP/1.1', 'Host: ported.test:8443', bearer(placeholder('ported')), 'Connection: close');
    assert.match(await bench.tell(text, { host: 'ported.test', port: 8443 }), /GET \/port was answered$/);
    assert.deepEqual(await arrived('/port'), [[`Bearer ${bench.values.ported}`]]);
    for (const options of [{ host: 'ported.test' }, { host: 'api.test', port: 8443 }]) {
      assert.match(await bench.tell(text, options), /GET \/port was answered$/);
      assert.deepEqual(await arrived('/port'), [[`Bearer ${placeholder('ported')}`]]);
    }
  });
});

describe('in a request', () => {
  const send = async (text, options) => {
    const answer = await bench.tell(text, options);
    assert.match(answer, /^HTTP\/1\.1 200 OK\r\n/);
    const requests = await bench.requests();
    assert.equal(requests.length, 1);
    return requests[0];
  };
  const authorization = async (...lines) => valuesOf(await send(getting('/', ...lines)), 'Authorization');
  const value = () => bench.values.github;

  test('credentials of the program are removed, in every form', async () => {
    for (const line of [bearer(own), `Authorization: Basic ${Buffer.from(`user:${token}`).toString('base64')}`, `aUTHORIZATION: ${own}`, 'Authorization:', bearer(token.toUpperCase()), bearer(token.slice(0, -1))]) {
      assert.deepEqual(await authorization(line), [], line);
    }
    assert.ok(!(await bench.said()).includes(own));
  });

  test('nothing is added when there is no such header', async () => {
    assert.deepEqual(await authorization(), []);
    assert.equal(bench.leaked(await bench.said()), undefined);
  });

  test('each of several such headers is looked at by itself', async () => {
    assert.deepEqual(await authorization(bearer(own), bearer(token), `authorization: token ${token}`, `AUTHORIZATION: ${own}`), [`Bearer ${value()}`, `token ${value()}`]);
    assert.ok(!(await bench.said()).includes(own));
  });

  test('the placeholder may be anywhere in the value', async () => {
    for (const [sent, expected] of [[token, value()], [`Bearer   ${token}`, `Bearer   ${value()}`], [`Digest key="${token}", realm="r"`, `Digest key="${value()}", realm="r"`]]) assert.deepEqual(await authorization(`Authorization: ${sent}`), [expected], sent);
  });

  test('a placeholder elsewhere stays one: in another header, the target, the body', async () => {
    const body = `{"token":"${token}"}`;
    const lines = [`POST /${token}?key=${token} HTTP/1.1`, 'Host: api.test', `X-Other: ${token}`, `Cookie: key=${token}`, `Proxy-Authorization: ${token}`, `X-${token}: 1`, 'Connection: close'];
    for (const text of [head(...lines, `Content-Length: ${body.length}`) + body, head(...lines, 'Transfer-Encoding: chunked') + head(body.length.toString(16), body, '0')]) {
      const request = await send(text);
      assert.deepEqual([request.target, request.body, request.complete], [`/${token}?key=${token}`, body, true]);
      for (const [name, expected] of Object.entries({ 'X-Other': token, Cookie: `key=${token}`, [`X-${token}`]: '1' })) assert.deepEqual(valuesOf(request, name), [expected], name);
      assert.equal(bench.leaked(await bench.said()), undefined);
    }
  });

  test('other headers arrive in their order, as they were written', async () => {
    const lines = [['X-First', '1'], ['accept', '*/*'], ['X-SECOND', 'two  words; "quoted"'], ['x-first', 'again'], ['X-Empty', ''], ['X-Latin', '\xe9']];
    const { headers } = await send(getting('/', ...lines.slice(0, 3).map(([name, text]) => `${name}: ${text}`), bearer(token), ...lines.slice(3).map(([name, text]) => `${name}: ${text}`)));
    assert.deepEqual(headers.filter(([name]) => /^(x-|accept)/i.test(name)), lines);
  });

  test('of several secrets for one header the placeholder says which, also where one begins like another', async () => {
    const text = head('GET / HTTP/1.1', 'Host: second.test', bearer(placeholder('second-two')), bearer(placeholder('second')), bearer(token), bearer(placeholder('second-key')), 'Connection: close');
    const request = await send(text, { host: 'second.test' });
    assert.equal(request.serverName, 'second.test');
    const values = valuesOf(request, 'Authorization');
    assert.deepEqual(values.slice(0, 2), [`Bearer ${bench.values['second-two']}`, `Bearer ${bench.values.second}`]);
    assert.ok(!values.some((one) => one.includes(bench.values.github) || one.includes(bench.values['second-key'])), 'a secret is for its own host and header only');
    assert.ok(!values.some((one) => one.includes(token)));
  });

  test('a secret may have another header, and then Authorization is as any other', async () => {
    const lines = [`x-api-key: ${placeholder('second-key')}`, `X-Api-Key: ${own}`];
    const request = await send(head('GET / HTTP/1.1', 'Host: second.test', ...lines, 'Connection: close'), { host: 'second.test' });
    assert.deepEqual(valuesOf(request, 'X-Api-Key'), [bench.values['second-key']]);
    const other = await send(getting('/', `X-Api-Key: ${placeholder('second-key')}`, bearer(token)));
    assert.deepEqual([valuesOf(other, 'X-Api-Key'), valuesOf(other, 'Authorization')], [[placeholder('second-key')], [`Bearer ${value()}`]]);
  });
});

describe('the policy decides first', () => {
  test('a host that is not allowed is not reached', async () => {
    for (const network of ['none', 'allow:', 'allow:good.test', 'allow:api.test:80']) {
      const { seen } = await bench.inside(async ({ v4, v6 }) => ({ name: await dial('api.test', 443), ...(await outcomes({ v4: dial(v4, 443), v6: dial(v6, 443) })) }), { network, data: places.api });
      for (const outcome of Object.values(seen)) assert.match(outcome, /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH)$/, `${network} ${JSON.stringify(seen)}`);
      assert.deepEqual((await bench.lab.log()).secure, []);
    }
  });
});

test('connections to the host end with the program', async () => {
  await bench.inside(async ({ text }) => (await secure('api.test')).say(text).until(/was answered/), { data: { text: head('GET / HTTP/1.1', 'Host: api.test') } });
  await until('the connection to end', async () => (await bench.lab.log()).secure.every(({ open }) => !open));
});

test('nothing of connections that are gone stays with the server', async () => {
  const open = () => readdirSync(`/proc/${bench.server.pid}/fd`).length;
  const use = () => bench.inside(async ({ text, bad }) => {
    const silent = net.connect(443, 'api.test').on('error', () => {});
    await Promise.all([tell(text), tell(bad), tell(text, { host: 'stolen.test' }), secure('api.test').then((talk) => talk.say(text.slice(0, 20))), secure('ordinary.test')]);
    return silent.destroyed;
  }, { data: { text: getting('/', bearer(token)), bad: 'no HTTP\r\n\r\n' } });
  await Promise.all([use(), use()]);
  let idle;
  await until('the server to be idle', () => idle === (idle = open()));
  for (let n = 0; n < 10; n += 1) await Promise.all([use(), use()]);
  // Spare sandboxes come and go; one descriptor of each of the twenty would be more than that.
  await until(`the server to have about ${idle} descriptors again`, () => open() < idle + 20);
});
