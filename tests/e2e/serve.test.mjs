// `belljar serve`: who may call, what belongs to whom, limits, and what an operator sees.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { cli } from './lib/belljar.mjs';
import { temporaryDirectory } from './lib/directories.mjs';
import { call, message, request, rpc, serve, tokenOf, tokens } from './lib/http.mjs';
import { descendants } from './lib/proc.mjs';
import { until } from './lib/wait.mjs';

const alice = tokenOf('alice');
const bob = tokenOf('bob');

describe('the token of its own', () => {
  test('is made at the first start, kept for its owner only, and printed once with a configuration', async (t) => {
    const server = await serve(t);
    const token = readFileSync(server.tokenFile, 'utf8').trim();
    assert.match(token, /^[\w-]{43}$/);
    assert.equal(statSync(server.tokenFile).mode & 0o777, 0o600);
    const { mcpServers: { belljar: pasted } } = JSON.parse(server.stderr.match(/^ *(\{"mcpServers".*)$/m)[1]);
    assert.equal(pasted.headers.Authorization, `Bearer ${token}`);
    assert.equal(pasted.url, server.url);
    assert.match((await call(server, token, 'run_js_ephemeral', { code: 'console.log(6 * 7)' })).text, /^Node.js process output:\n42\n/);

    const again = await serve(t, { env: { XDG_CONFIG_HOME: join(server.directory, 'home') } });
    assert.ok(!again.stderr.includes(token), 'it is not shown again');
    assert.equal((await rpc(again, token, 'tools/list')).status, 200);
  });

  test('that others could have read is refused', async (t) => {
    const directory = temporaryDirectory(t);
    mkdirSync(join(directory, 'belljar'));
    writeFileSync(join(directory, 'belljar', 'token'), `${'a'.repeat(43)}\n`, { mode: 0o644 });
    const { code, stderr } = await cli(['serve', '--listen', '127.0.0.1:0'], { env: { XDG_CONFIG_HOME: directory } });
    assert.equal(code, 1);
    assert.match(stderr, /is not yours alone, so others may know it/);
  });
});

describe('what it refuses to start with', () => {
  const refusals = {
    'no token at an address that others reach': [['--listen', '0.0.0.0:0', '--no-auth'], /lets everybody run programs here; use a loopback address/],
    'a certificate without its key': [['--tls-cert', '/etc/hostname'], /tls-cert and tls-key go together/],
    'files that are no certificate': [['--tls-cert', '/etc/hostname', '--tls-key', '/etc/hostname'], /are no certificate and its key/],
    'an issuer that anybody could be': [['--oauth-issuer', 'http://issuer.example'], /it must be an https address/],
    'an address that is none': [['--listen', 'localhost'], /it must be ADDRESS:PORT/],
    'an audit log that is no file': [['--audit-log', '/dev/null'], /is not an ordinary file/],
  };
  for (const [what, [args, text]] of Object.entries(refusals)) {
    test(what, async () => {
      const listen = args.includes('--listen') ? [] : ['--listen', '127.0.0.1:0'];
      const { code, stderr } = await cli(['serve', ...listen, ...args]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, text);
    });
  }

  test('tokens that are wrong, with the place where they stand', async (t) => {
    const file = join(temporaryDirectory(t), 'c.toml');
    for (const [line, text] of [['token = "short"', /fewer than 24 characters/], ['token-sha256 = "x"', /64 hexadecimal digits/], ['', /one of token-file/],
      ['token-file = "/nowhere"', /nowhere/], ['value = "x"', /there is no "value"/]]) {
      writeFileSync(file, `[tokens.alice]\n${line}\n`);
      const { code, stderr } = await cli(['serve', '--listen', '127.0.0.1:0', '--config', file]);
      assert.equal(code, 2, stderr);
      assert.match(stderr, /\[tokens\.alice\]/);
      assert.match(stderr, text);
    }
  });
});

test('belljar config shows tokens without the tokens', async (t) => {
  const file = join(temporaryDirectory(t), 'c.toml');
  writeFileSync(file, `listen = "[::1]:99"\n${tokens('alice')}files-dir = "/srv/alice"\n`);
  for (const args of [['config', '--config', file], ['config', '--json', '--config', file]]) {
    const { code, stdout, stderr } = await cli(args);
    assert.equal(code, 0, stderr);
    assert.ok(!stdout.includes(alice));
    assert.match(stdout, new RegExp(createHash('sha256').update(alice).digest('hex')));
    assert.match(stdout, /\[::1\]:99/);
  }
});

test('without authorization everybody on this machine may call, if the operator says so', async (t) => {
  const server = await serve(t, { args: ['--no-auth'] });
  assert.match((await call(server, undefined, 'run_js_ephemeral', { code: 'console.log(1)' })).text, /output:\n1\n/);
});

test('answers to those without a good token are those of the protocol', async (t) => {
  const server = await serve(t, { toml: tokens('alice') });
  const none = await rpc(server, undefined, 'tools/list');
  assert.equal(none.status, 401);
  assert.equal(none.headers['www-authenticate'], 'Bearer');
  const wrong = await rpc(server, 'wrong', 'tools/list');
  assert.equal(wrong.status, 401);
  assert.match(wrong.headers['www-authenticate'], /^Bearer error="invalid_token", error_description="/);
  assert.equal(JSON.parse(wrong.text).error, 'invalid_token');
  assert.equal((await rpc(server, alice, 'tools/list')).status, 200);
});

describe('two owners', () => {
  test('have sandboxes of their own: an id of somebody else is like one that never was', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob') });
    const { structuredContent: { container_id: id } } = await call(server, alice, 'sandbox_initialize');
    const never = `js-sbx-${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;
    const attempts = {
      run_js: { code: '1' }, sandbox_exec: { commands: ['true'] }, sandbox_stop: {}, sandbox_logs: {}, sandbox_list_files: {},
      sandbox_read_file: { path: 'x' }, sandbox_write_files: { files: [{ path: 'x', content: '' }] },
    };
    for (const [tool, args] of Object.entries(attempts)) {
      const foreign = await call(server, bob, tool, { container_id: id, ...args });
      const unknown = await call(server, bob, tool, { container_id: never, ...args });
      assert.ok(foreign.isError, tool);
      assert.equal(foreign.text.replaceAll(id, never), unknown.text, tool);
    }
    assert.deepEqual((await call(server, bob, 'sandbox_list')).structuredContent.sandboxes, []);
    assert.deepEqual((await call(server, alice, 'sandbox_list')).structuredContent.sandboxes.map((one) => one.container_id ?? one.id), [id]);
    assert.match((await call(server, alice, 'run_js', { container_id: id, code: 'console.log(1)' })).text, /output:\n1\n/);
  });

  test('have files directories of their own', async (t) => {
    const root = temporaryDirectory(t);
    for (const name of ['alice', 'bob']) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'own.txt'), name);
    }
    const toml = ['alice', 'bob'].map((name) => `${tokens(name)}files-dir = "${join(root, name)}"\n`).join('') + tokens('carol');
    const server = await serve(t, { toml });
    const code = "import fs from 'node:fs'; console.log(fs.existsSync('files/own.txt') ? fs.readFileSync('files/own.txt', 'utf8') : 'nothing')";
    for (const [name, seen] of [['alice', 'alice'], ['bob', 'bob'], ['carol', 'nothing']]) {
      assert.match((await call(server, tokenOf(name), 'run_js_ephemeral', { code })).text, new RegExp(`output:\n${seen}\n`));
    }
    const uri = `file://${join(root, 'alice', 'own.txt')}`;
    assert.ok(message(await rpc(server, alice, 'resources/read', { uri })).result);
    assert.ok(message(await rpc(server, bob, 'resources/read', { uri })).error);
    const { result: { resources } } = message(await rpc(server, bob, 'resources/list'));
    assert.ok(resources.every((resource) => !resource.uri.includes('alice')));
  });

  test('have sessions of their own', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob') });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'e2e', version: '1' } } });
    const opened = await request(server.url, { method: 'POST', headers: { ...headers, authorization: `Bearer ${alice}` }, body });
    const session = opened.headers['mcp-session-id'];
    assert.ok(session);
    const ping = (token, id) => request(server.url, {
      method: 'POST', headers: { ...headers, authorization: `Bearer ${token}`, 'mcp-session-id': id, 'mcp-protocol-version': '2025-11-25' }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    });
    const foreign = await ping(bob, session);
    const unknown = await ping(bob, 'f'.repeat(session.length));
    assert.equal(foreign.status, 404);
    assert.deepEqual([foreign.status, foreign.text], [unknown.status, unknown.text]);
    assert.equal((await ping(alice, session)).status, 200);
  });
});

describe('limits of one owner', () => {
  test('live sandboxes', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob'), args: ['--owner-sandboxes', '1'] });
    await call(server, alice, 'sandbox_initialize');
    const second = await call(server, alice, 'sandbox_initialize');
    assert.ok(second.isError);
    assert.match(second.text, /you already have 1 live sandboxes, which is the limit/);
    assert.ok(!(await call(server, bob, 'sandbox_initialize')).isError);
  });

  test('time per minute, with when to come back', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob'), args: ['--owner-run-seconds', '1'] });
    const code = 'setTimeout(() => {}, 1500)';
    assert.ok(!(await call(server, alice, 'run_js_ephemeral', { code })).isError);
    const refused = await call(server, alice, 'run_js_ephemeral', { code });
    assert.ok(refused.isError);
    assert.match(refused.text, /may run for 1 s per minute, and have; try again in \d+\.\d s/);
    assert.ok(refused._meta['belljar/retryAfterMs'] > 0);
    assert.ok(!(await call(server, bob, 'run_js_ephemeral', { code: '1' })).isError);
  });

  test('runs at once: more wait, too many are refused, and others are not kept waiting', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob'), args: ['--owner-runs', '1', '--owner-waiting', '1'] });
    const stop = new AbortController();
    const endless = call(server, alice, 'run_js_ephemeral', { code: 'setInterval(() => {}, 1000)' }, { signal: stop.signal }).catch(() => {});
    const metrics = async () => (await request(server.at('/metrics'), { headers: { authorization: `Bearer ${bob}` } })).text;
    await until('the first one runs', async () => /^belljar_runs 1$/m.test(await metrics()));
    const waiting = call(server, alice, 'run_js_ephemeral', { code: 'console.log(2)' });
    await until('the second one waits', async () => /^belljar_waiting_runs 1$/m.test(await metrics()));
    const third = await call(server, alice, 'run_js_ephemeral', { code: '1' });
    assert.match(third.text, /1 runs under way and 1 more waiting, which is the limit; try again/);
    assert.ok(!(await call(server, bob, 'run_js_ephemeral', { code: '1' })).isError);
    stop.abort();
    await endless;
    assert.match((await waiting).text, /output:\n2\n/);
  });

  test('the size of a request', async (t) => {
    const server = await serve(t, { toml: tokens('alice'), args: ['--max-request', '64k'] });
    assert.equal((await rpc(server, alice, 'tools/call', { name: 'run_js_ephemeral', arguments: { code: 'x'.repeat(65536) } })).status, 413);
  });
});

describe('what an operator sees', () => {
  test('health and readiness tell nothing else, and need no token', async (t) => {
    const server = await serve(t);
    assert.deepEqual([(await request(server.at('/healthz'))).text, (await request(server.at('/readyz'))).text], ['alive\n', 'ready\n']);
  });

  test('it lives, but is not ready, when no program can be run any more', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    await call(server, alice, 'run_js_ephemeral', { code: '1' });
    assert.equal((await request(server.at('/readyz'))).status, 200);
    const [launcher] = descendants(server.pid).filter(({ name }) => name.startsWith('belljar-launch'));
    process.kill(launcher.pid, 'SIGKILL'); // it takes the others along
    const answer = await until('it is not ready', async () => {
      const now = await request(server.at('/readyz'));
      return now.status !== 200 && now;
    });
    assert.deepEqual([answer.status, answer.text], [503, 'not ready\n']);
    assert.equal((await request(server.at('/healthz'))).status, 200);
    assert.ok((await call(server, alice, 'run_js_ephemeral', { code: '1' })).isError);
  });

  test('metrics, for those with the token', async (t) => {
    const file = join(temporaryDirectory(t), 'token');
    writeFileSync(file, `${tokenOf('metrics')}\n`, { mode: 0o600 });
    const server = await serve(t, { toml: tokens('alice'), args: ['--metrics-token-file', file] });
    await call(server, alice, 'run_js_ephemeral', { code: 'console.log(1)' });
    await call(server, alice, 'run_js_ephemeral', { code: 'for (;;);', timeoutMs: 200 });
    for (const token of ['', alice]) assert.equal((await request(server.at('/metrics'), { headers: { authorization: `Bearer ${token}` } })).status, 401);
    const { status, text, headers } = await request(server.at('/metrics'), { headers: { authorization: `Bearer ${tokenOf('metrics')}` } });
    assert.equal(status, 200);
    assert.match(headers['content-type'], /^text\/plain; version=0\.0\.4/);
    for (const line of [/^belljar_calls_total\{tool="run_js_ephemeral",outcome="ok"\} 1$/m, /^belljar_kills_total\{reason="timed_out"\} 1$/m,
      /^belljar_call_seconds_bucket\{tool="run_js_ephemeral",le="\+Inf"\} 2$/m, /^belljar_http_requests_total\{status="401"\} 2$/m, /^belljar_live_sandboxes 0$/m]) {
      assert.match(text, line);
    }
    assert.ok(!text.includes('alice'), 'nothing of owners is in it');
  });

  test('a line of the audit log for every call, and the same id in the result and in the log', async (t) => {
    const file = join(temporaryDirectory(t), 'audit.jsonl');
    const server = await serve(t, { toml: tokens('alice'), args: ['--audit-log', file, '--log-level', 'info', '--log-format', 'json'] });
    const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    const code = "import fs from 'node:fs'; fs.writeFileSync('files/new.txt', 'x')";
    const result = await call(server, alice, 'run_js_ephemeral', { code }, { headers: { traceparent } });
    const id = result._meta['belljar/requestId'];
    assert.match(id, /^[0-9a-f]{32}$/);
    const lines = readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    const line = lines.find(({ event }) => event === 'call');
    assert.equal(line.request, id);
    assert.equal(line.traceparent, traceparent);
    assert.equal(line.owner, 'alice');
    assert.equal(line.tool, 'run_js_ephemeral');
    assert.equal(line.outcome, 'ok');
    assert.equal(line.network, 'none');
    assert.equal(line.codeSha256, createHash('sha256').update(code).digest('hex'));
    assert.deepEqual(line.files, [{ path: 'new.txt', change: 'created', size: 1 }]);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    const logged = server.stderr.split('\n').filter((text) => text.startsWith('{"time"')).map((text) => JSON.parse(text));
    const own = logged.find(({ message: text }) => text.startsWith('run_js_ephemeral'));
    assert.equal(own.request, id);
    assert.equal(own.traceparent, traceparent);
    const fromMeta = '00-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-bbbbbbbbbbbbbbbb-00';
    const second = await call(server, alice, 'sandbox_list', {}, { headers: { traceparent: 'nonsense"\\' }, meta: { traceparent: fromMeta } });
    const last = JSON.parse(readFileSync(file, 'utf8').trim().split('\n').at(-1));
    assert.equal(last.request, second._meta['belljar/requestId']);
    assert.equal(last.traceparent, fromMeta);
    assert.notEqual(last.request, id);
  });
});

describe('the end', () => {
  // A call whose program runs: { ended }, how it ended.
  const busy = async (server, code) => {
    const ended = call(server, alice, 'run_js_ephemeral', { code }).then((result) => result.text, (error) => `broken: ${error.message}`);
    const metrics = () => request(server.at('/metrics'), { headers: { authorization: `Bearer ${alice}` } });
    await until('the program runs', async () => /^belljar_runs 1$/m.test((await metrics()).text));
    return { ended };
  };
  const notReady = (server) => until('it is not ready', async () => (await request(server.at('/readyz'))).status === 503);

  test('after SIGTERM calls end, and new ones are turned away', async (t) => {
    const server = await serve(t, { toml: tokens('alice') });
    const running = await busy(server, 'setTimeout(() => console.log("done"), 3000)');
    server.child.kill('SIGTERM');
    await notReady(server);
    const late = await rpc(server, alice, 'tools/list');
    assert.equal(late.status, 503);
    assert.ok(late.headers['retry-after']);
    assert.equal((await request(server.at('/healthz'))).status, 200);
    assert.match(await running.ended, /output:\ndone\n/);
    assert.deepEqual(await server.ended, { code: 0, signal: null });
  });

  test('calls that take too long are cancelled', async (t) => {
    const server = await serve(t, { toml: tokens('alice'), args: ['--drain-timeout', '1'] });
    const running = await busy(server, 'setInterval(() => {}, 1000)');
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    assert.match(await running.ended, /^broken/);
    assert.match(server.stderr, /calls are cancelled, because drain-timeout \(1 s\) is over/);
  });

  test('a second signal ends everything at once', async (t) => {
    const server = await serve(t, { toml: tokens('alice'), args: ['--drain-timeout', '600'] });
    const running = await busy(server, 'setInterval(() => {}, 1000)');
    server.child.kill('SIGTERM');
    await notReady(server);
    server.child.kill('SIGTERM');
    assert.deepEqual(await server.ended, { code: 0, signal: null });
    assert.match(await running.ended, /^broken/);
  });
});
