// What a program finds in its sandbox: a sane machine, sealed.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, describe, test } from 'node:test';

import { Server } from './lib/stdio.mjs';

let server;
before(async () => {
  server = Server.start(null);
  await server.initialize();
});
after(() => server?.stop());

const evaluate = (code, args) => server.evaluate(code, args);

describe('the machine', () => {
  test('has as many processors as the limit allows', async () => {
    const seen = await evaluate(`import os from 'node:os';
      console.log(JSON.stringify([os.cpus().length, os.availableParallelism()]))`);
    assert.deepEqual(seen, [1, 1]);
  });

  test('has the processors and memory of another limit', async (t) => {
    const other = Server.start(t, { env: { SANDBOX_CPU_LIMIT: '2', SANDBOX_MEMORY_LIMIT: '256m' } });
    const seen = await other.evaluate(`import os from 'node:os';
      console.log(JSON.stringify([os.cpus().length, os.availableParallelism(), process.constrainedMemory()]))`);
    assert.deepEqual(seen, [2, 2, 256 << 20]);
  });

  test('has one processor when less than one is allowed', async (t) => {
    const other = Server.start(t, { env: { SANDBOX_CPU_LIMIT: '0.5' } });
    const seen = await other.evaluate(`import os from 'node:os';
      console.log(JSON.stringify([os.cpus().length, os.availableParallelism()]))`);
    assert.deepEqual(seen, [1, 1]);
  });

  test('has the memory that the limit allows', async () => {
    const seen = await evaluate(`import os from 'node:os';
      console.log(JSON.stringify({ constrained: process.constrainedMemory(), heap: (await import('node:v8')).getHeapStatistics().heap_size_limit }))`);
    assert.equal(seen.constrained, 512 << 20);
    assert.ok(seen.heap <= 512 << 20, 'the heap limit fits into it');
  });

  test('has a user, a home, a name, a place for temporary files', async () => {
    const seen = await evaluate(`import os from 'node:os';
      const { username, uid, gid, homedir } = os.userInfo();
      console.log(JSON.stringify({ username, uid, gid, homedir, home: os.homedir(), tmp: os.tmpdir(), cwd: process.cwd(), hostname: os.hostname(),
        script: process.argv[1], platform: os.platform() }))`);
    const hostname = seen.hostname;
    assert.notEqual(hostname, (await import('node:os')).hostname(), 'not the name of the host');
    assert.match(hostname, /^[a-z0-9][a-z0-9-]*$/);
    assert.deepEqual(seen, {
      username: 'node', uid: 1000, gid: 1000, homedir: '/home/node', home: '/home/node', tmp: '/tmp', cwd: '/workspace', hostname,
      script: '/workspace/index.js', platform: 'linux',
    });
  });

  test('is in UTC and speaks UTF-8', async () => {
    const seen = await evaluate(`
      import { execFileSync } from 'node:child_process';
      console.log(JSON.stringify({
        zone: Intl.DateTimeFormat().resolvedOptions().timeZone, offset: new Date().getTimezoneOffset(),
        length: Number(execFileSync('/bin/sh', ['-c', 'printf %s "äöü€" | wc -m'])), text: 'äöü€😀' }))`);
    assert.deepEqual(seen, { zone: 'UTC', offset: 0, length: 4, text: 'äöü€😀' });
  });

  test('has no environment variable of the host', async (t) => {
    const other = Server.start(t, { env: { SECRET_TOKEN: 'xyzzy', npm_config_registry: 'http://192.0.2.1/' } });
    const seen = await other.evaluate('console.log(JSON.stringify(process.env))');
    assert.equal(JSON.stringify(seen).includes('xyzzy'), false);
    assert.equal('npm_config_registry' in seen, false);
    assert.equal(seen.HOME, '/home/node');
    assert.equal(seen.TMPDIR, '/tmp');
    assert.deepEqual(Object.keys(seen).filter((name) => /BELLJAR|SANDBOX/.test(name)), []);
  });

  test('has a clock, randomness and memory of its own', async () => {
    const code = 'console.log(JSON.stringify([Date.now(), Math.random(), crypto.randomUUID()]))';
    const [first, second] = [await evaluate(code), await evaluate(code)];
    assert.ok(Math.abs(first[0] - Date.now()) < 60_000);
    assert.notEqual(first[1], second[1]);
    assert.notEqual(first[2], second[2]);
  });
});

describe('the tools', () => {
  for (const tool of ['npm', 'npx']) {
    test(`${tool} works`, async () => {
      const seen = await evaluate(`import { execFileSync } from 'node:child_process';
        console.log(JSON.stringify(execFileSync('${tool}', ['--version'], { encoding: 'utf8' }).trim()))`);
      assert.match(seen, /^\d+\.\d+\.\d+$/);
    });
  }

  test('git works, if the host has it', { skip: spawnSync('git', ['--version']).error && 'no git here' }, async () => {
    const result = await server.run(`import { execSync } from 'node:child_process';
      execSync('git init -q repo && cd repo && echo x > f && git add f && git -c user.name=n -c user.email=e@x commit -q -m first');
      console.log(execSync('git -C repo log --oneline', { encoding: 'utf8' }))`);
    assert.match(result.stdout, /first/, result.text);
  });

  test('the shell and the usual commands work', async () => {
    const result = await server.run(`import { execSync } from 'node:child_process';
      console.log(execSync(\`set -e
        mkdir d && printf 'b\\\\na\\\\n' > d/f
        sort d/f | sed s/a/A/ | awk '{print NR $1}' | grep -n . | tr '\\\\n' ' '
        find d -type f | xargs wc -l
        tar -cf d.tar d && tar -tf d.tar && gzip d.tar && ls -l d.tar.gz
        bash -c 'echo bash'
        seq 3 | head -2 | tail -1
        uname -s; id -un; date +%Z; env | wc -l; sleep 0; true
      \`, { encoding: 'utf8' }))`);
    assert.equal(result.exitCode, 0, result.text);
    for (const part of ['1:1A 2:2b', '2 d/f', 'd/f\n', 'd.tar.gz', 'bash', 'Linux', 'node', 'UTC']) assert.ok(result.stdout.includes(part), `${part} in ${result.stdout}`);
  });
});

describe('the language', () => {
  test('modules, top-level await and built-ins work', async () => {
    const seen = await evaluate(`
      import fs, { promises } from 'node:fs'; import path from 'node:path'; import url from 'node:url'; import util from 'node:util';
      import zlib from 'node:zlib'; import assert from 'node:assert'; import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      await promises.writeFile('a.json', '{"x":1}');
      const { default: loaded } = await import('./a.json', { with: { type: 'json' } });
      assert.equal(zlib.gunzipSync(zlib.gzipSync('text')).toString(), 'text');
      console.log(JSON.stringify([loaded.x, require('./a.json').x, path.basename(url.fileURLToPath(import.meta.url)), util.inspect(new Map([[1, 2]])),
        structuredClone({ a: [1] }), await Promise.all([1, 2].map(async (n) => n * 2))]))`);
    assert.deepEqual(seen, [1, 1, 'index.js', 'Map(1) { 1 => 2 }', { a: [1] }, [2, 4]]);
  });

  test('CommonJS files can be used', async () => {
    const seen = await evaluate(`import { writeFileSync } from 'node:fs';
      writeFileSync('c.cjs', 'module.exports = { dir: __dirname }');
      console.log(JSON.stringify((await import('./c.cjs')).default))`);
    assert.deepEqual(seen, { dir: '/workspace' });
  });

  test('TypeScript runs', async () => {
    const result = await server.run(`
      interface Point { x: number; y: number }
      type Named<T> = T & { name: string };
      const p: Named<Point> = { x: 1, y: 2, name: 'p' };
      const sum = <T extends Point>(point: T): number => point.x + point.y;
      console.log(p.name, sum(p) as number, import.meta.url.endsWith('index.ts'));`, { language: 'typescript' });
    assert.equal(result.stdout, 'p 3 true\n', result.text);
  });

  test('worker threads work', async () => {
    const seen = await evaluate(`import { Worker } from 'node:worker_threads';
      const ask = (n) => new Promise((resolve, reject) => {
        const worker = new Worker('const { parentPort, workerData } = require("node:worker_threads"); parentPort.postMessage(workerData * 2)', { eval: true, workerData: n });
        worker.once('message', resolve); worker.once('error', reject);
      });
      console.log(JSON.stringify(await Promise.all([1, 2, 3].map(ask))))`);
    assert.deepEqual(seen, [2, 4, 6]);
  });

  test('child processes work, with pipes, exit codes and signals', async () => {
    const seen = await evaluate(`import { spawn, fork, spawnSync } from 'node:child_process'; import { writeFileSync } from 'node:fs'; import { once } from 'node:events';
      const killed = spawn('sleep', ['100']); killed.kill('SIGTERM'); const [, signal] = await once(killed, 'exit');
      writeFileSync('child.cjs', 'process.send(process.argv[2]); process.disconnect()');
      const [message] = await once(fork('child.cjs', ['hi']), 'message');
      console.log(JSON.stringify([spawnSync('sh', ['-c', 'exit 7']).status, signal, message, spawnSync('cat', { input: 'piped' }).stdout.toString()]))`);
    assert.deepEqual(seen, [7, 'SIGTERM', 'hi', 'piped']);
  });

  test('a server on 127.0.0.1 and on localhost can be reached from inside', async () => {
    const seen = await evaluate(`import http from 'node:http'; import { once } from 'node:events';
      const web = http.createServer((request, response) => response.end('served ' + request.url)).listen(0, '127.0.0.1');
      await once(web, 'listening'); const { port } = web.address();
      const bodies = [];
      for (const host of ['127.0.0.1', 'localhost']) bodies.push(await (await fetch('http://' + host + ':' + port + '/' + host)).text());
      web.close(); web.closeAllConnections();
      console.log(JSON.stringify(bodies))`);
    assert.deepEqual(seen, ['served /127.0.0.1', 'served /localhost']);
  });

  test('cryptography works', async () => {
    const seen = await evaluate(`import crypto from 'node:crypto';
      const { publicKey, privateKey } = crypto.generateKeyPairSync('ed25519');
      const digest = await globalThis.crypto.subtle.digest('SHA-256', new TextEncoder().encode('x'));
      console.log(JSON.stringify([crypto.createHash('sha256').update('x').digest('hex').slice(0, 8), Buffer.from(digest).toString('hex').slice(0, 8),
        crypto.verify(null, Buffer.from('m'), publicKey, crypto.sign(null, Buffer.from('m'), privateKey)), crypto.scryptSync('p', 's', 8).length]))`);
    assert.deepEqual(seen, ['2d711642', '2d711642', true, 8]);
  });

  test('WebAssembly works', async () => {
    const seen = await evaluate(`
      const bytes = Uint8Array.from([0,97,115,109,1,0,0,0,1,7,1,96,2,127,127,1,127,3,2,1,0,7,7,1,3,97,100,100,0,0,10,9,1,7,0,32,0,32,1,106,11]);
      const { instance } = await WebAssembly.instantiate(bytes); new WebAssembly.Memory({ initial: 10, maximum: 100, shared: true });
      console.log(JSON.stringify(instance.exports.add(40, 2)))`);
    assert.equal(seen, 42);
  });

  test('files can be written, linked, watched, renamed and removed', async () => {
    const seen = await evaluate(`import fs from 'node:fs';
      fs.mkdirSync('a/b/c', { recursive: true }); fs.writeFileSync('a/b/c/f', 'x'.repeat(1000)); fs.symlinkSync('c/f', 'a/b/link'); fs.linkSync('a/b/c/f', 'a/hard');
      fs.chmodSync('a/hard', 0o600); fs.renameSync('a/hard', 'a/soft'); const watcher = fs.watch('a'); watcher.close();
      const size = fs.statSync('a/b/link').size; fs.truncateSync('a/soft', 10); const tmp = fs.mkdtempSync('/tmp/x-'); fs.rmSync(tmp, { recursive: true });
      fs.writeFileSync(process.env.HOME + '/h', '1'); fs.writeFileSync('files/f', '1');
      const left = fs.readdirSync('a').sort(); fs.rmSync('a', { recursive: true });
      console.log(JSON.stringify([size, left, fs.existsSync('a')]))`);
    assert.deepEqual(seen, [1000, ['b', 'soft'], false]);
  });
});

describe('the network', () => {
  test('is not there', async () => {
    const seen = await evaluate(`import net from 'node:net'; import os from 'node:os'; import dns from 'node:dns/promises';
      const started = Date.now();
      const connect = (host) => new Promise((resolve) => net.connect(80, host).once('connect', () => resolve('connected')).once('error', (error) => resolve(error.code)));
      const fetched = await fetch('http://192.0.2.1/').then(() => 'answered', (error) => error.cause?.code);
      const looked = await dns.lookup('example.com').then(() => 'found', (error) => error.code);
      console.log(JSON.stringify({ fetched, v4: await connect('192.0.2.1'), v6: await connect('2001:db8::1'), metadata: await connect('169.254.169.254'),
        looked, interfaces: Object.keys(os.networkInterfaces()), slow: Date.now() - started > 5000 }))`);
    assert.equal(seen.fetched, 'ENETUNREACH');
    assert.equal(seen.v4, 'ENETUNREACH');
    assert.equal(seen.metadata, 'ENETUNREACH');
    assert.match(seen.v6, /^E(NETUNREACH|ADDRNOTAVAIL|AFNOSUPPORT)$/);
    assert.match(seen.looked, /^E(AI_AGAIN|NOTFOUND)$/);
    assert.deepEqual(seen.interfaces, ['lo']);
    assert.equal(seen.slow, false, 'failures come at once, not after a timeout');
  });

  test('of the host cannot be reached on its loopback', async (t) => {
    const { createServer } = await import('node:net');
    const host = createServer((socket) => socket.end('host')).listen(0, '127.0.0.1');
    t.after(() => host.close());
    await new Promise((resolve) => host.once('listening', resolve));
    const seen = await evaluate(`import net from 'node:net';
      console.log(JSON.stringify(await new Promise((resolve) => net.connect(${host.address().port}, '127.0.0.1').once('connect', () => resolve('connected')).once('error', (error) => resolve(error.code)))))`);
    assert.equal(seen, 'ECONNREFUSED');
  });
});

describe('the end of a program', () => {
  for (const code of [0, 1, 42, 255]) {
    test(`exit code ${code} is reported`, async () => {
      const result = await server.run(`process.exit(${code})`);
      assert.equal(result.isError ?? false, code !== 0);
      if (result.structuredContent) assert.equal(result.exitCode, code);
      if (code !== 0) assert.match(result.text, new RegExp(`Error during execution: .*${code}`));
    });
  }

  test('an uncaught error is reported with its stack', async () => {
    const result = await server.run('function broken() { throw new TypeError("on purpose") }\nbroken()');
    assert.equal(result.isError, true);
    assert.match(result.text, /^Error during execution: /m);
    assert.match(result.text, /TypeError: on purpose/);
    assert.match(result.text, /index\.js:1/);
  });

  test('a syntax error is reported with its place', async () => {
    const result = await server.run('const a = ;');
    assert.equal(result.isError, true);
    assert.match(result.text, /SyntaxError/);
  });

  test('an unhandled rejection fails the run', async () => {
    const result = await server.run('Promise.reject(new Error("nobody cares"))');
    assert.equal(result.isError, true);
    assert.match(result.text, /nobody cares/);
  });

  for (const signal of ['SIGTERM', 'SIGKILL', 'SIGSEGV', 'SIGABRT']) {
    test(`death by ${signal} is named`, async () => {
      const result = await server.run(`process.kill(process.pid, '${signal}'); setTimeout(() => {}, 60_000)`);
      assert.equal(result.isError, true);
      assert.match(result.text, new RegExp(signal));
    });
  }

  test('a program that is too slow is stopped, and what it printed is kept', async () => {
    const result = await server.run('console.log("early"); setTimeout(() => {}, 60_000)', { timeoutMs: 1000 });
    assert.equal(result.isError, true);
    assert.match(result.text, /ETIMEDOUT/);
    assert.match(result.text, /early/);
  });

  test('RUN_SCRIPT_TIMEOUT limits every run', async (t) => {
    const other = Server.start(t, { env: { RUN_SCRIPT_TIMEOUT: '1000' } });
    assert.match((await other.run('setTimeout(() => {}, 60_000)')).text, /ETIMEDOUT/);
  });
});

describe('what a program is given', () => {
  test('arguments, environment and standard input arrive unchanged', async () => {
    const args = ['', ' ', '--flag', 'a b', "quote'\"$HOME`id`", 'ü€😀', '\n'];
    const env = { EMPTY: '', TEXT: 'a=b c', UMLAUT: 'ü€😀', LINES: 'a\nb' };
    const stdin = 'line 1\nü€😀\n'.repeat(1000);
    const seen = await evaluate(`import { text } from 'node:stream/consumers';
      const { EMPTY, TEXT, UMLAUT, LINES } = process.env;
      console.log(JSON.stringify({ args: process.argv.slice(2), env: { EMPTY, TEXT, UMLAUT, LINES }, stdin: await text(process.stdin) }))`,
      { args, env, stdin });
    assert.deepEqual(seen, { args, env, stdin });
  });

  test('without standard input there is an end of file', async () => {
    const seen = await evaluate("import { text } from 'node:stream/consumers'; console.log(JSON.stringify(await text(process.stdin)))");
    assert.equal(seen, '');
  });

  test('code of any characters arrives unchanged', async () => {
    const result = await server.run('// ü€😀 "quotes" \'single\' `back` \\ $HOME\r\nconsole.log("ü€😀\u2028\\n", \'%s\', String.raw`\\x`)');
    assert.equal(result.stdout, 'ü€😀\u2028\n %s \\x\n', result.text);
  });

  test('output that is not UTF-8 becomes replacement characters', async () => {
    const result = await server.run('process.stdout.write(Buffer.from([0x61, 0xff, 0xc3, 0x28, 0x00, 0x62]))');
    assert.equal(result.stdout, 'a\ufffd\ufffd(\0b');
  });
});

describe('a session', () => {
  const start = async (t) => {
    const { text: id } = await server.call('sandbox_initialize');
    t.after(() => server.call('sandbox_stop', { container_id: id }));
    const run = (code, args = {}) => server.call('run_js', { container_id: id, code, ...args });
    const exec = (...commands) => server.call('sandbox_exec', { container_id: id, commands });
    return { id, run, exec };
  };

  test('keeps files from one run to the next, and no other sandbox sees them', async (t) => {
    const session = await start(t);
    await session.run('import fs from "node:fs"; for (const f of ["kept", "/tmp/kept", process.env.HOME + "/kept"]) fs.writeFileSync(f, f)');
    assert.equal((await session.run('import fs from "node:fs"; console.log(fs.readFileSync("/tmp/kept", "utf8"))')).stdout, '/tmp/kept\n');
    assert.match((await session.exec('cat kept ~/kept')).text, /kept.*home\/node\/kept/s);
    const other = await start(t);
    assert.match((await other.exec('ls /workspace /tmp ~ | grep kept || echo nothing')).text, /nothing/);
    assert.equal((await server.run('import fs from "node:fs"; console.log(fs.existsSync("/tmp/kept"))')).stdout, 'false\n');
  });

  test('runs several programs at once', async (t) => {
    const session = await start(t);
    // Each waits for the other's file, so neither can end alone.
    const program = (mine, other) => session.run(`import fs from 'node:fs';
      fs.writeFileSync('${mine}', ''); const timer = setInterval(() => { if (fs.existsSync('${other}')) { clearInterval(timer); console.log('${mine} done'); } }, 5)`);
    const [a, b] = await Promise.all([program('a', 'b'), program('b', 'a')]);
    assert.equal(a.stdout, 'a done\n');
    assert.equal(b.stdout, 'b done\n');
  });

  test('survives a program that fails, runs out of time or out of memory', async (t) => {
    const session = await start(t);
    await session.exec('echo kept > kept');
    assert.equal((await session.run('throw new Error("x")')).isError, true);
    assert.match((await session.run('for (;;);', { timeoutMs: 500 })).text, /ETIMEDOUT/);
    assert.equal((await session.run('const all = []; for (;;) all.push(Buffer.alloc(16 << 20, 1))')).isError, true);
    assert.equal((await session.exec('cat kept')).text.trim(), 'kept');
  });

  test('runs commands in order, each in a shell, and reports a failing one', async (t) => {
    const session = await start(t);
    const fine = await session.exec('cd /tmp; pwd', 'pwd', 'echo "$((6 * 7))"; id -u');
    assert.equal(fine.isError ?? false, false);
    assert.deepEqual(fine.text.split(/\n+/).filter(Boolean).slice(0, 4), ['/tmp', '/workspace', '42', '1000']);
    const failing = await session.exec('echo before', 'echo why >&2; exit 3', 'echo after');
    assert.equal(failing.isError, true);
    for (const word of ['before', 'why', '3']) assert.ok(failing.text.includes(word), `${word} in ${failing.text}`);
  });

  test('is gone after it was stopped, with everything in it', async (t) => {
    const { text: id } = await server.call('sandbox_initialize');
    const running = server.call('run_js', { container_id: id, code: 'setTimeout(() => {}, 60_000)', timeoutMs: 120_000 });
    assert.equal((await server.call('sandbox_stop', { container_id: id })).text, `Container ${id} removed.`);
    assert.equal((await running).isError, true, 'a run in it ends as an error');
    assert.match((await server.call('sandbox_exec', { container_id: id, commands: ['true'] })).text, /no such sandbox/i);
  });

  test('ends when its lifetime is over', async (t) => {
    const other = Server.start(t, { env: { NODE_CONTAINER_TIMEOUT: '1' } });
    const { text: id } = await other.call('sandbox_initialize');
    const { until } = await import('./lib/wait.mjs');
    await until('the sandbox to be reaped', async () =>
      /no such sandbox/i.test((await other.call('sandbox_exec', { container_id: id, commands: ['true'] })).text), 10_000);
  });
});
