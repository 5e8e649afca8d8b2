// `belljar list|exec|logs|stop`: a person looks into the sandboxes of running servers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, test } from 'node:test';

import { belljar, cli, environment } from './lib/belljar.mjs';
import { call, serve, tokenOf, tokens } from './lib/http.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

const uid = process.getuid();
let runtime; // stands in for /run/user/UID, so that nobody else's servers are seen
let sockets;
let env;
beforeEach(() => {
  runtime = mkdtempSync(join(tmpdir(), 'belljar-runtime-'));
  sockets = join(runtime, `belljar-${uid}`);
  env = { XDG_RUNTIME_DIR: runtime };
});
afterEach(() => rmSync(runtime, { recursive: true }));
const start = (t, extra = {}) => Server.start(t, { env: { ...env, ...extra } });
const run = (...args) => cli(args, { env });

// A server that has answered once is there for others, too.
async function withSandbox(t, extra) {
  const server = start(t, extra);
  const { text: id } = await server.call('sandbox_initialize', {});
  return { server, id };
}

describe('belljar list, exec and stop', () => {
  test('without a server everything says so', async () => {
    for (const args of [['list'], ['list', '--json'], ['exec', 'x', '--', 'ls'], ['logs', 'x'], ['stop', 'x']]) {
      const { code, stdout, stderr } = await run(...args);
      assert.equal(code, 1);
      assert.equal(stdout, '');
      assert.match(stderr, /no belljar server of this user is running/);
    }
  });

  test('list shows the sandboxes of all servers', async (t) => {
    const one = await withSandbox(t);
    const two = await withSandbox(t);
    const empty = start(t);
    await empty.initialize();
    const { code, stdout, stderr } = await run('list');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ID +IMAGE +AGE +IDLE +RUNNING +SERVER +PORTS\n/);
    for (const { server, id } of [one, two]) {
      assert.match(stdout, new RegExp(`^${id} +node:lts-slim +\\d+ s +\\d+ s +0 +${server.pid} +-$`, 'm'));
    }
    const json = JSON.parse((await run('list', '--json')).stdout);
    assert.deepEqual(json.map((entry) => [entry.container_id, entry.server]).sort(),
      [one, two].map(({ server, id }) => [id, server.pid]).sort());
    for (const entry of json) {
      assert.equal(typeof entry.ageSeconds, 'number');
      assert.equal(typeof entry.idleSeconds, 'number');
    }
  });

  test('list has the ports that are published', async (t) => {
    const server = start(t);
    const { text: id } = await server.call('sandbox_initialize', { port: 0 });
    const code = "import { createServer } from 'node:http'; createServer().listen(process.env.PORT);";
    const { structuredContent } = await server.call('run_js', { container_id: id, code, listenOnPort: 0 });
    const [{ ports }] = JSON.parse((await run('list', '--json')).stdout);
    assert.equal(ports.length, 2);
    assert.ok(ports.includes(structuredContent.background.port));
    assert.match((await run('list')).stdout, new RegExp(`^${id} .* ${server.pid} +${ports.join(',')}$`, 'm'));
  });

  test('sandboxes of belljar serve are shown with their owners, and reached whoever has them', async (t) => {
    const server = await serve(t, { toml: tokens('alice', 'bob'), args: ['--audit-log', join(runtime, 'audit')], env });
    const ids = {};
    for (const owner of ['alice', 'bob']) ids[owner] = (await call(server, tokenOf(owner), 'sandbox_initialize')).text;
    const { code, stdout, stderr } = await run('list');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^ID +IMAGE +AGE +IDLE +RUNNING +SERVER +OWNER +PORTS\n/);
    for (const [owner, id] of Object.entries(ids)) assert.match(stdout, new RegExp(`^${id} +node:lts-slim +\\d+ s +\\d+ s +0 +${server.pid} +${owner} +-$`, 'm'));
    const listed = JSON.parse((await run('list', '--json')).stdout);
    assert.deepEqual(listed.map(({ container_id, owner }) => [container_id, owner]).sort(), Object.entries(ids).map(([owner, id]) => [id, owner]).sort());

    const stdio = await withSandbox(t); // of nobody in particular
    assert.match((await run('list')).stdout, new RegExp(`^${stdio.id} .* ${stdio.server.pid} +- +-$`, 'm'));

    await call(server, tokenOf('bob'), 'run_js', { container_id: ids.bob, code: "console.log('from bob'); setInterval(() => {}, 1000); (await import('node:http')).createServer().listen(process.env.PORT);", listenOnPort: 0 });
    assert.match((await run('logs', ids.bob)).stdout, /from bob/);
    assert.equal((await run('exec', ids.alice, '--', 'echo', 'hello')).stdout, 'hello\n');
    const stopped = await run('stop', ids.alice);
    assert.equal(stopped.code, 0, stopped.stderr);
    assert.deepEqual((await call(server, tokenOf('alice'), 'sandbox_list')).structuredContent.sandboxes, []);
    assert.equal((await call(server, tokenOf('bob'), 'sandbox_list')).structuredContent.sandboxes.length, 1);
    const audited = readFileSync(join(runtime, 'audit'), 'utf8').trim().split('\n').map((line) => JSON.parse(line));
    assert.deepEqual(audited.filter(({ owner, tool }) => owner === 'operator' && tool !== 'sandbox_list').map(({ tool, sandbox }) => [tool, sandbox]),
      [['sandbox_logs', ids.bob], ['sandbox_exec', ids.alice], ['sandbox_stop', ids.alice]]);
  });

  test('a server without sandboxes has an empty list', async (t) => {
    await start(t).initialize();
    assert.equal((await run('list')).stdout, 'No live sandboxes.\n');
    assert.equal((await run('list', '--json')).stdout, '[]\n');
  });

  test('exec runs a command and passes on what it prints and how it ends', async (t) => {
    const { id } = await withSandbox(t);
    const words = await run('exec', id, '--', 'printf', '%s|', 'a b', "it's", '$HOME', '');
    assert.deepEqual([words.code, words.stdout, words.stderr], [0, "a b|it's|$HOME||", '']);
    const line = await run('exec', id.slice(7, 15), '--', 'echo $((6 * 7)); echo oops >&2; exit 3');
    assert.deepEqual([line.code, line.stdout, line.stderr], [3, '42\n', 'oops\n']);
    const killed = await run('exec', id, '--', 'kill -TERM $$');
    assert.equal(killed.code, 128 + 15);
    const late = await run('exec', '--timeout', '200', id, '--', 'sleep', '60');
    assert.equal(late.code, 124);
    assert.match(late.stderr, /ETIMEDOUT/);
  });

  test('exec sees what the agent left, and the agent what exec left', async (t) => {
    const { server, id } = await withSandbox(t);
    await server.call('run_js', { container_id: id, code: 'import fs from "node:fs"; fs.writeFileSync("a", "agent")' });
    assert.equal((await run('exec', id, '--', 'cat', 'a')).stdout, 'agent');
    await run('exec', id, '--', 'echo person > b');
    assert.equal((await server.call('sandbox_exec', { container_id: id, commands: ['cat b'] })).text, 'person\n');
  });

  test('an interrupted exec ends the command', async (t) => {
    const { server, id } = await withSandbox(t);
    const child = spawn(belljar, ['exec', id, '--', 'sleep 100'], { env: environment(env), stdio: 'ignore' });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const running = async () => (await server.call('sandbox_list')).sandboxes[0].running;
    await until('the command to run', async () => (await running()) === 1);
    child.kill('SIGINT');
    assert.equal(await ended, 130);
    await until('the command to end', async () => (await running()) === 0);
  });

  test('stop ends sandboxes, and names those it cannot find', async (t) => {
    const { server, id } = await withSandbox(t);
    const { text: other } = await server.call('sandbox_initialize', {});
    const { code, stdout, stderr } = await run('stop', id, 'zzz', other);
    assert.equal(code, 1);
    assert.equal(stdout, `Container ${id} removed.\nContainer ${other} removed.\n`);
    assert.match(stderr, /no such sandbox: zzz/);
    assert.equal((await server.call('sandbox_list')).text, 'No live sandboxes.');
    assert.equal((await run('exec', id, '--', 'ls')).code, 1);
  });

  test('more than one match is an error that shows them', async (t) => {
    const { server, id } = await withSandbox(t);
    const { text: other } = await server.call('sandbox_initialize', {});
    const { code, stderr } = await run('exec', 'js-sbx-', '--', 'ls');
    assert.equal(code, 2);
    assert.ok(stderr.includes(id) && stderr.includes(other), stderr);
  });

  test('bad command lines end with 2', async () => {
    for (const args of [['exec'], ['exec', 'x'], ['stop'], ['logs'], ['logs', 'x', '--process', 'y'], ['exec', '--timeout', '-1', 'x', '--', 'y']]) {
      assert.equal((await run(...args)).code, 2, args.join(' '));
    }
  });
});

describe('the socket of a server', () => {
  test('is for its user alone and goes with the server', async (t) => {
    const server = start(t);
    await server.initialize();
    assert.equal(lstatSync(sockets).mode & 0o7777, 0o700);
    const socket = join(sockets, `${server.pid}.sock`);
    assert.equal(lstatSync(socket).mode & 0o7777, 0o600);
    await server.stop();
    assert.deepEqual(readdirSync(sockets), []);
  });

  test('goes on SIGTERM, too', async (t) => {
    const server = start(t);
    await server.initialize();
    server.child.kill('SIGTERM');
    await server.exited;
    assert.deepEqual(readdirSync(sockets), []);
  });

  test('of a killed server is removed by whoever comes next', async (t) => {
    const kill = async () => {
      const server = Server.start(undefined, { env });
      await server.initialize();
      server.child.kill('SIGKILL');
      await server.exited;
      return join(sockets, `${server.pid}.sock`);
    };
    const first = await kill();
    assert.ok(existsSync(first));
    assert.equal((await run('list')).code, 1);
    assert.ok(!existsSync(first));
    const second = await kill();
    assert.ok(existsSync(second));
    await start(t).initialize();
    assert.ok(!existsSync(second));
  });

  const traps = {
    'a link': (path) => symlinkSync('/tmp', path),
    'a link to nowhere': (path) => symlinkSync(join(path, 'nowhere'), path),
    'a directory of another user': (path) => (mkdirSync(path, { mode: 0o700 }), chownSync(path, 65534, 65534)),
    'a directory that others can enter': (path) => (mkdirSync(path), chmodSync(path, 0o755)),
  };
  for (const [what, plant] of Object.entries(traps)) {
    test(`is not put into ${what}; the server works without`, { skip: uid !== 0 && 'needs root' }, async (t) => {
      plant(sockets);
      const server = start(t);
      await server.initialize();
      assert.equal((await server.call('sandbox_list')).text, 'No live sandboxes.');
      if (!what.startsWith('a link')) assert.deepEqual(readdirSync(sockets), []);
      const { code, stderr } = await run('list');
      assert.equal(code, 1);
      assert.match(stderr, /belljar-0 is not a directory/);
    });
  }

  test('serves many people at once', async (t) => {
    const { id } = await withSandbox(t);
    const all = await Promise.all(Array.from({ length: 12 }, (_, n) => run('exec', id, '--', `echo ${n}`)));
    assert.deepEqual(all.map(({ stdout }) => stdout), all.map((_, n) => `${n}\n`));
  });
});

// A server made of a function from tool name and arguments to a result.
function fakeServer(t, call) {
  mkdirSync(sockets, { mode: 0o700, recursive: true });
  const server = createServer((connection) => {
    connection.on('error', () => {});
    createInterface({ input: connection }).on('line', (line) => {
      const { id, params } = JSON.parse(line);
      const result = call(params.name, params.arguments);
      if (result) connection.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...result })}\n`);
    });
  });
  t.after(() => server.close());
  return new Promise((resolve) => server.listen(join(sockets, `${process.pid}.sock`), resolve));
}
const freePort = () =>
  new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
const result = (structuredContent) => ({ result: { content: [], structuredContent } });
const one = result({ sandboxes: [{ container_id: 'js-sbx-1' }] });

describe('belljar logs', () => {
  test('prints what there is, part by part', async (t) => {
    const asked = [];
    const parts = ['one\n', 'two\n', 'three\n'];
    await fakeServer(t, (name, args) => {
      if (name === 'sandbox_list') return one;
      asked.push(args);
      const cursor = args.cursor ?? 0;
      return result({ process: 2, running: true, text: parts[cursor], cursor: cursor + 1, dropped: cursor ? 0 : 7, more: cursor < 2 });
    });
    const { code, stdout, stderr } = await run('logs', '1');
    assert.equal(code, 0);
    assert.equal(stdout, parts.join(''));
    assert.match(stderr, /7 bytes are no longer kept/);
    assert.deepEqual(asked, [
      { container_id: 'js-sbx-1', maxBytes: 1048576 },
      { container_id: 'js-sbx-1', maxBytes: 1048576, process: 2, cursor: 1 },
      { container_id: 'js-sbx-1', maxBytes: 1048576, process: 2, cursor: 2 },
    ]);
  });

  test('--follow goes on until the process has ended', async (t) => {
    let calls = 0;
    const texts = ['a', '', 'b', '', 'c', ''];
    await fakeServer(t, (name, args) => {
      if (name === 'sandbox_list') return one;
      assert.equal(args.process, 5);
      const text = texts[calls++];
      return result({ process: 5, running: calls < texts.length, text, cursor: calls, dropped: 0, more: false });
    });
    const { code, stdout } = await run('logs', '--follow', '--process', '5', 'js-sbx-1');
    assert.deepEqual([code, stdout], [0, 'abc']);
  });

  test('shows what a server in a sandbox prints, to its end', async (t) => {
    const { server, id } = await withSandbox(t);
    const code = `import { createServer } from 'node:http';
      createServer((request, response) => { console.log(request.url); response.end(); if (request.url === '/end') process.exit(); }).listen(PORT);
      console.log('listening');`;
    const port = await freePort();
    await server.call('run_js', { container_id: id, listenOnPort: port, code: code.replace('PORT', port) });
    const { stdout, stderr } = await run('logs', id);
    assert.equal(stdout, 'listening\n', stderr);
    const follower = run('logs', '--follow', id);
    await fetch(`http://127.0.0.1:${port}/one`);
    await fetch(`http://127.0.0.1:${port}/end`).catch(() => {});
    const all = await follower;
    assert.deepEqual([all.code, all.stdout], [0, 'listening\n/one\n/end\n']);
  });

  test("passes on the server's refusal", async (t) => {
    await fakeServer(t, (name) =>
      name === 'sandbox_list' ? one : { result: { isError: true, content: [{ type: 'text', text: 'no such process: 9' }] } });
    const { code, stderr } = await run('logs', '1', '--process', '9');
    assert.equal(code, 1);
    assert.match(stderr, /no such process: 9/);
  });

  test('a server that answers nonsense is left out', async (t) => {
    await fakeServer(t, () => ({ result: 7 }));
    const { code, stdout, stderr } = await run('list');
    assert.deepEqual([code, stdout], [0, 'No live sandboxes.\n']);
    assert.match(stderr, new RegExp(`server ${process.pid}: `));
  });
});
