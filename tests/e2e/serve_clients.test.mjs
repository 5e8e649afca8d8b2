// The official SDKs over HTTP, with tokens, with TLS, and with access tokens of an issuer that the test is.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createSign, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

import { temporaryDirectory } from './lib/directories.mjs';
import { call, request, rpc, serve, tokenOf, tokens } from './lib/http.mjs';

const info = { name: 'e2e', version: '1' };
const clients = {
  'SDK 1': { make: () => new ClientV1(info), Transport: HttpV1 },
  'SDK 2': { make: () => new ClientV2(info), Transport: HttpV2 },
  'SDK 2, auto': { make: () => new ClientV2(info, { versionNegotiation: { mode: 'auto' } }), Transport: HttpV2 },
  'SDK 2, pinned to 2026-07-28': { make: () => new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), Transport: HttpV2 },
};
const connect = async (t, { make, Transport }, server, token) => {
  const client = make();
  t.after(() => client.close());
  await client.connect(new Transport(new URL(server.url), { requestInit: { headers: { authorization: `Bearer ${token}` } } }));
  return client;
};

for (const [name, kind] of Object.entries(clients)) {
  describe(name, () => {
    test('works with a session of its own, told of progress, and its results name the request', async (t) => {
      const server = await serve(t, { toml: tokens('alice') });
      const client = await connect(t, kind, server, tokenOf('alice'));
      assert.equal((await client.listTools()).tools.length, 12);
      const { structuredContent: { container_id: id } } = await client.callTool({ name: 'sandbox_initialize', arguments: {} });
      const ran = await client.callTool({ name: 'run_js', arguments: { container_id: id, code: 'console.log(6 * 7)' } });
      assert.equal(ran.structuredContent.stdout, '42\n');
      assert.match(ran._meta['belljar/requestId'], /^[0-9a-f]{32}$/);
      assert.ok(!(await client.callTool({ name: 'sandbox_stop', arguments: { container_id: id } })).isError);
    });

    test('is refused with a token that nobody has', async (t) => {
      const server = await serve(t, { toml: tokens('alice') });
      await assert.rejects(connect(t, kind, server, tokenOf('nobody')), /401|[Uu]nauthorized|invalid_token/);
    });
  });
}

test('TLS with a certificate of the operator', async (t) => {
  const directory = temporaryDirectory(t);
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key, '-out', cert, '-days', '2',
    '-subj', '/CN=localhost', '-addext', 'subjectAltName=IP:127.0.0.1'], { stdio: 'ignore' });
  const server = await serve(t, { toml: tokens('alice'), args: ['--tls-cert', cert, '--tls-key', key], scheme: 'https', ca: readFileSync(cert) });
  assert.match(server.stderr, /belljar serves MCP at https:\/\/127\.0\.0\.1:/);
  assert.match((await call(server, tokenOf('alice'), 'run_js_ephemeral', { code: 'console.log(1)' })).text, /output:\n1\n/);
  await assert.rejects(request(server.at('/healthz')), /self.signed/);
  await assert.rejects(request(server.at('/healthz').replace('https:', 'http:')));
});

// An authorization server: its metadata, its keys, and tokens as the test wants them.
async function makeIssuer(t) {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = (pair, kid) => ({ ...pair.publicKey.export({ format: 'jwk' }), kid, use: 'sig' });
  const server = createServer((incoming, answer) => {
    const url = `http://127.0.0.1:${server.address().port}`;
    const pages = {
      '/.well-known/oauth-authorization-server': { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': { keys: [jwk(rsa, 'rsa'), jwk(ec, 'ec')] },
    };
    answer.writeHead(pages[incoming.url] ? 200 : 404, { 'content-type': 'application/json' }).end(JSON.stringify(pages[incoming.url] ?? {}));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const url = `http://127.0.0.1:${server.address().port}`;
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims = {}, header = {}) => {
    const alg = header.alg ?? 'RS256';
    const text = `${encode({ alg, typ: 'at+jwt', kid: alg === 'ES256' ? 'ec' : 'rsa', ...header })}.${encode({
      iss: url, aud: 'belljar-test', sub: 'carol', scope: 'mcp', exp: Math.floor(Date.now() / 1000) + 300, ...claims,
    })}`;
    const signature = alg === 'ES256'
      ? sign('sha256', Buffer.from(text), { key: ec.privateKey, dsaEncoding: 'ieee-p1363' })
      : createSign('sha256').update(text).sign(rsa.privateKey);
    return `${text}.${alg === 'none' ? '' : signature.toString('base64url')}`;
  };
  return { url, token };
}

describe('access tokens of an issuer', () => {
  const start = (t, issuer, more = {}) => serve(t, { args: ['--oauth-issuer', issuer.url, '--oauth-audience', 'belljar-test'], ...more });

  test('let their subjects in, each with sandboxes of its own', async (t) => {
    const issuer = await makeIssuer(t);
    const server = await start(t, issuer, { toml: tokens('carol') });
    const [carol, dave] = [issuer.token(), issuer.token({ sub: 'dave' }, { alg: 'ES256' })];
    const { structuredContent: { container_id: id } } = await call(server, carol, 'sandbox_initialize');
    assert.match((await call(server, issuer.token({ exp: Date.now() }), 'run_js', { container_id: id, code: 'console.log(1)' })).text, /output:\n1\n/);
    for (const other of [dave, tokenOf('carol')]) {
      assert.match((await call(server, other, 'run_js', { container_id: id, code: '1' })).text, /no such sandbox/);
    }
  });

  test('that are not good are refused as the protocol says', async (t) => {
    const issuer = await makeIssuer(t);
    const server = await start(t, issuer);
    const good = issuer.token();
    const bad = {
      expired: issuer.token({ exp: Math.floor(Date.now() / 1000) - 100 }), 'for others': issuer.token({ aud: 'https://other.example' }),
      'of others': issuer.token({ iss: 'https://other.example' }), unsigned: issuer.token({}, { alg: 'none' }), 'HS256': issuer.token({}, { alg: 'HS256' }),
      changed: good.replace(/\.[\w-]+\./, `.${Buffer.from(JSON.stringify({ iss: issuer.url, aud: 'belljar-test', sub: 'root', scope: 'mcp', exp: 9e9 })).toString('base64url')}.`),
      'not yet valid': issuer.token({ nbf: Math.floor(Date.now() / 1000) + 1000 }), 'of an unknown key': issuer.token({}, { kid: 'unknown' }), 'no token': 'x'.repeat(43),
    };
    for (const [what, token] of Object.entries(bad)) {
      const answer = await rpc(server, token, 'tools/list');
      assert.equal(answer.status, 401, what);
      assert.match(answer.headers['www-authenticate'], /^Bearer error="invalid_token", error_description="[^"]+", scope="mcp", resource_metadata="/, what);
    }
    const poor = await rpc(server, issuer.token({ scope: 'read' }), 'tools/list');
    assert.equal(poor.status, 403);
    assert.match(poor.headers['www-authenticate'], /error="insufficient_scope".*scope="mcp"/);
    const none = await rpc(server, undefined, 'tools/list');
    assert.equal(none.status, 401);
    const [, metadata] = /resource_metadata="([^"]+)"/.exec(none.headers['www-authenticate']);
    const described = JSON.parse((await request(metadata)).text);
    assert.deepEqual(described.authorization_servers, [issuer.url]);
    assert.deepEqual(described.scopes_supported, ['mcp']);
    assert.equal(described.resource, server.url);
    assert.equal((await rpc(server, good, 'tools/list')).status, 200);
  });

  test('cannot be checked while the issuer is away, which is no refusal', async (t) => {
    const server = await serve(t, { args: ['--oauth-issuer', 'http://127.0.0.1:9', '--oauth-audience', 'x'], toml: tokens('alice') });
    const issuer = await makeIssuer(t);
    const answer = await rpc(server, issuer.token(), 'tools/list');
    assert.equal(answer.status, 503);
    assert.ok(answer.headers['retry-after']);
    assert.equal((await rpc(server, tokenOf('alice'), 'tools/list')).status, 200);
  });
});
