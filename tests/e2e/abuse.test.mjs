// Programs and clients that mean harm: each gets a clear error, and the next call works as if nothing had been.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';

import { marker } from './lib/belljar.mjs';
import { memory, processesWith } from './lib/proc.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

let server;
before(async () => {
  server = Server.start(null);
  await server.initialize();
});
after(() => server?.stop());
// Whatever a test did, the server still serves.
afterEach(async () => {
  const result = await server.run('console.log("still here")');
  assert.equal(result.stdout, 'still here\n', result.text);
});

const gone = (word) => until('its processes to end', () => processesWith(word).length === 0, 3_000);

describe('a program that takes too much', () => {
  test('memory outside the heap is killed, and the result says why', async () => {
    const result = await server.run('console.log("begin"); const all = []; for (;;) all.push(Buffer.alloc(16 << 20, 1))');
    assert.equal(result.isError, true);
    assert.match(result.text, /memory/i);
    assert.match(result.text, /begin/);
    if (result.structuredContent) assert.equal(result.oomKilled, true);
  });

  test('memory in the heap fails', async () => {
    const result = await server.run('const all = []; for (;;) all.push(new Array(1e5).fill(all.length))');
    assert.equal(result.isError, true);
    assert.match(result.text, /memory/i);
  });

  test('memory by many processes is killed as a group', async () => {
    const word = marker();
    const result = await server.run(`import { spawn } from 'node:child_process';
      if (process.argv[3] === 'child') { const all = []; for (;;) all.push(Buffer.alloc(4 << 20, 1)); }
      for (let i = 0; i < 8; i++) spawn(process.execPath, [process.argv[1], process.argv[2], 'child'], { stdio: 'inherit' });
      setTimeout(() => {}, 60_000);`, { args: [word], timeoutMs: 20_000 });
    assert.equal(result.isError, true);
    assert.equal(result.oomKilled, true, result.text.slice(0, 300));
    await gone(word);
  });

  test('processes cannot be made without end', async () => {
    const word = marker();
    // How it ends depends on which fork fails: that of the bomb or that of sleep.
    await server.run(`import { spawnSync } from 'node:child_process';
      spawnSync('/bin/sh', ['-c', 'bomb() { bomb | bomb & }; bomb; sleep 60; : ${word}'], { stdio: 'inherit' });`, { timeoutMs: 3000 });
    await gone(word);
    await gone('bomb() { bomb | bomb & }; bomb');
  });

  test('the number of processes and threads is limited', async () => {
    const seen = await server.evaluate(`import { spawn } from 'node:child_process';
      let started = 0, refused = '';
      const attempts = [];
      for (let i = 0; i < 400; i++) attempts.push(new Promise((resolve) => {
        const child = spawn('sleep', ['30'], { stdio: 'ignore' });
        child.once('spawn', () => { started++; resolve(child); }); child.once('error', (error) => { refused = error.code; resolve(); });
      }));
      for (const child of await Promise.all(attempts)) child?.kill('SIGKILL');
      console.log(JSON.stringify({ started, refused })); process.exit(0)`);
    assert.equal(seen.refused, 'EAGAIN');
    assert.ok(seen.started < 256, `${seen.started} processes`);
  });

  test('a program that has all the processes it may have is compiled and collected as before', async () => {
    const result = await server.run(`import { spawn } from 'node:child_process';
      const children = [];
      for (let refused = false; !refused; ) {
        const child = spawn('sleep', ['30'], { stdio: 'ignore' });
        child.on('error', () => {});
        if (child.pid) children.push(child); else refused = true;
      }
      const bytes = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 127, 3, 2, 1, 0, 7, 5, 1, 1, 102, 0, 0, 10, 6, 1, 4, 0, 65, 42, 11];
      const module = await WebAssembly.compile(new Uint8Array(bytes));
      const made = [];
      for (let i = 0; i < 300; i++) made.push(new Array(10000).fill({ i }));
      console.log(new WebAssembly.Instance(module).exports.f(), made.length, children.length > 100);
      process.exit(0)`);
    assert.equal(result.stdout, '42 300 true\n', result.text);
  });

  for (const place of ['/tmp', '/workspace', '/home/node', '/dev/shm']) {
    test(`disk in ${place} gets ENOSPC`, async () => {
      const seen = await server.evaluate(`import fs from 'node:fs';
        let written = 0, error; const chunk = Buffer.alloc(4 << 20, 1);
        try { const file = fs.openSync('${place}/bomb', 'w'); for (;;) written += fs.writeSync(file, chunk); } catch (e) { error = e.code; }
        console.log(JSON.stringify({ written, error }))`);
      assert.match(seen.error, /^E(NOSPC|DQUOT|FBIG)$/);
      assert.ok(seen.written <= 256 << 20, `${seen.written} bytes written`);
    });
  }

  test('files without end gets ENOSPC', async () => {
    const seen = await server.evaluate(`import fs from 'node:fs';
      let made = 0, error;
      try { for (;; made++) fs.closeSync(fs.openSync('/tmp/f' + made, 'w')); } catch (e) { error = e.code; }
      console.log(JSON.stringify({ made, error }))`, { timeoutMs: 60_000 });
    assert.match(seen.error, /^E(NOSPC|DQUOT)$/);
    assert.ok(seen.made <= 65536, `${seen.made} files`);
  });

  test('output is capped and marked, and the server stays small', async (t) => {
    const own = Server.start(t);
    await own.initialize();
    await own.run('console.log(1)');
    const before = memory(own.pid, 'VmHWM');
    const result = await own.run(`
      process.stdout.write('THE BEGINNING\\n'); const chunk = 'x'.repeat((1 << 20) - 1) + '\\n';
      for (let i = 0; i < 100; i++) process.stdout.write(chunk);
      process.stdout.write('THE END\\n');`);
    assert.equal(result.isError ?? false, false, result.text.slice(0, 500));
    assert.equal(result.truncated, true);
    assert.ok(result.stdout.length < 1.1 * (1 << 20), `${result.stdout.length} characters`);
    assert.ok(result.stdout.startsWith('THE BEGINNING\n'), 'the beginning is kept');
    assert.ok(result.stdout.endsWith('THE END\n'), 'the end is kept');
    assert.match(result.stdout.replaceAll(/x+/g, 'x'), /omitted|dropped|truncated|cut/i, 'it says so in between');
    const grown = memory(own.pid, 'VmHWM') - before;
    assert.ok(grown < 16 << 20, `the server grew by ${grown} bytes`);
  });

  test('output is capped in progress messages too', async () => {
    server.received.length = 0;
    await server.call('run_js_ephemeral', { code: 'const chunk = "y".repeat(1 << 20); for (let i = 0; i < 30; i++) process.stdout.write(chunk)' }, { _meta: { progressToken: 'flood' } });
    const bytes = server.received.filter((message) => message.method).reduce((sum, message) => sum + JSON.stringify(message).length, 0);
    assert.ok(bytes < 8 << 20, `${bytes} bytes of progress`);
  });
});

describe('a program that will not end', () => {
  test('in an endless loop is stopped at its time', async () => {
    const started = performance.now();
    const result = await server.run('for (;;);', { timeoutMs: 500 });
    assert.match(result.text, /ETIMEDOUT/);
    assert.ok(performance.now() - started < 3_000);
  });

  test('and ignores every signal is stopped all the same', async () => {
    const word = marker();
    const result = await server.run(`import os from 'node:os'; import { spawn } from 'node:child_process';
      for (const signal of Object.keys(os.constants.signals)) try { process.on(signal, () => {}); } catch {}
      spawn('/bin/sh', ['-c', 'trap "" HUP INT QUIT TERM USR1 USR2 PIPE ALRM; while :; do sleep 1; done; : ' + process.argv[2]], { stdio: 'inherit', detached: true });
      setInterval(() => {}, 1000);`, { args: [word], timeoutMs: 1000 });
    assert.match(result.text, /ETIMEDOUT/);
    await gone(word);
  });

  test('but leaves a daemon behind has ended, and the daemon with it', async () => {
    const word = marker();
    const started = performance.now();
    const result = await server.run(`import { spawn } from 'node:child_process';
      spawn('/bin/sh', ['-c', 'setsid sh -c "trap \\'\\' TERM HUP; sleep 60; : ${word}" & exit 0'], { detached: true, stdio: 'ignore' }).unref();
      console.log('parent done')`);
    assert.equal(result.stdout, 'parent done\n', result.text);
    assert.ok(performance.now() - started < 10_000);
    await gone(word);
  });

  test('but leaves a child that holds its output open has ended', async () => {
    const word = marker();
    const started = performance.now();
    const result = await server.run(`import { spawn } from 'node:child_process';
      spawn('/bin/sh', ['-c', 'sleep 60; : ${word}'], { detached: true, stdio: 'inherit' }).unref();
      console.log('parent done'); process.exit(0)`);
    assert.equal(result.stdout, 'parent done\n', result.text);
    assert.ok(performance.now() - started < 10_000, 'a short grace, no more');
    await gone(word);
  });

  test('closes its output and goes on is waited for until its time', async () => {
    const result = await server.run('import fs from "node:fs"; fs.closeSync(1); fs.closeSync(2); setTimeout(() => {}, 60_000)', { timeoutMs: 500 });
    assert.match(result.text, /ETIMEDOUT/);
  });

  test('stops itself is stopped at its time', async () => {
    const result = await server.run('process.kill(process.pid, "SIGSTOP"); setTimeout(() => {}, 60_000)', { timeoutMs: 500 });
    assert.match(result.text, /ETIMEDOUT/);
  });

  test('does not read its input does not hold up the server', async () => {
    const result = await server.run('console.log("did not read")', { stdin: 'x'.repeat(900_000) });
    assert.equal(result.stdout, 'did not read\n', result.text);
  });
});

describe('a client that asks for what cannot be', () => {
  // [what, tool, arguments, what the error must say]
  const malformed = ['', ' ', '../x', '-rf', 'a b', 'a;b', 'a\nb', '/etc', 'ü', '$(id)', '\0'];
  const cases = [
    ...malformed.map((id) => [`id ${JSON.stringify(id)}`, 'run_js', { container_id: id, code: '1' }, /Invalid container ID/]),
    ['an unknown id', 'run_js', { container_id: 'js-sbx-00000000-0000-4000-8000-000000000000', code: '1' }, /no such sandbox/i],
    ['another name as id', 'sandbox_stop', { container_id: 'nginx' }, /no such sandbox/i],
    ['an id that is a number', 'sandbox_exec', { container_id: 7, commands: ['true'] }, /container_id/],
    ['no id', 'sandbox_exec', { commands: ['true'] }, /container_id/],
    ['no commands', 'sandbox_exec', { container_id: 'x', commands: [] }, /commands/],
    ['an empty command', 'sandbox_exec', { container_id: 'x', commands: [''] }, /commands/],
    ['no code', 'run_js_ephemeral', {}, /code/],
    ['empty code', 'run_js_ephemeral', { code: '' }, /code/],
    ['code that is a number', 'run_js_ephemeral', { code: 1 }, /code.*string/s],
    ['code with NUL', 'run_js_ephemeral', { code: 'a\0b' }, /code.*NUL/is],
    ['code over the limit', 'run_js_ephemeral', { code: `/*${'x'.repeat(6 << 20)}*/` }, /code/],
    ['an unknown image', 'run_js_ephemeral', { code: '1', image: 'ubuntu:latest' }, /image.*node:/s],
    ['an unknown Node', 'run_js_ephemeral', { code: '1', image: 'node:999' }, /node:/],
    ['an image with a path', 'sandbox_initialize', { image: '../../etc' }, /image/],
    ['an image that is a number', 'sandbox_initialize', { image: 5 }, /image/],
    ['a negative time', 'run_js_ephemeral', { code: '1', timeoutMs: -1 }, /timeoutMs.*-1/s],
    ['no time', 'run_js_ephemeral', { code: '1', timeoutMs: 0 }, /timeoutMs/],
    ['half a millisecond', 'run_js_ephemeral', { code: '1', timeoutMs: 0.5 }, /timeoutMs.*0\.5/s],
    ['a huge time', 'run_js_ephemeral', { code: '1', timeoutMs: 1e300 }, /timeoutMs/],
    ['a time that is text', 'run_js_ephemeral', { code: '1', timeoutMs: '5' }, /timeoutMs/],
    ['an unknown language', 'run_js_ephemeral', { code: '1', language: 'python' }, /language.*python.*typescript/s],
    ['arguments that are no list', 'run_js_ephemeral', { code: '1', args: 'x' }, /args/],
    ['an argument with NUL', 'run_js_ephemeral', { code: '1', args: ['a\0b'] }, /args/],
    ['an environment that is a list', 'run_js_ephemeral', { code: '1', env: ['A=1'] }, /env/],
    ['a variable with =', 'run_js_ephemeral', { code: '1', env: { 'A=B': '1' } }, /env/],
    ['a variable that is a number', 'run_js_ephemeral', { code: '1', env: { A: 1 } }, /env/],
    ['input that is a number', 'run_js_ephemeral', { code: '1', stdin: 1 }, /stdin/],
    ['negative memory', 'run_js_ephemeral', { code: '1', limits: { memory: -1 } }, /memory/],
    ['huge memory', 'run_js_ephemeral', { code: '1', limits: { memory: 1e18 } }, /memory/],
    ['no processors', 'run_js_ephemeral', { code: '1', limits: { cpus: 0 } }, /cpus/],
    ['negative processes', 'run_js_ephemeral', { code: '1', limits: { pids: -5 } }, /pids/],
    ['half a process', 'run_js_ephemeral', { code: '1', limits: { pids: 1.5 } }, /pids/],
    ['an unknown network', 'run_js_ephemeral', { code: '1', network: 'everything' }, /network.*everything/s],
  ];
  for (const [what, tool, args, message] of cases) {
    test(`${what} gets a tool error that says so`, async () => {
      const result = await server.call(tool, args);
      assert.equal(result.isError, true, result.text.slice(0, 300));
      assert.match(result.text, message);
      assert.ok(result.text.length < 2_000, 'the error is short');
    });
  }

  test('invalid UTF-8 in code gets an error', async () => {
    const line = Buffer.from('{"jsonrpc":"2.0","id":"utf8","method":"tools/call","params":{"name":"run_js_ephemeral","arguments":{"code":"console.log(\'\xff\')"}}}\n', 'latin1');
    server.received.length = 0;
    server.sendRaw(line);
    const answer = await server.next('an answer', (message) => message.id === 'utf8' || message.error);
    assert.ok(answer.error || answer.result.isError, JSON.stringify(answer).slice(0, 300));
  });

  test('an empty list of dependencies is none', async () => {
    assert.equal((await server.run('console.log(1)', { dependencies: [] })).stdout, '1\n');
  });

  test('live sandboxes are limited in number, and a stopped one makes room', async (t) => {
    const own = Server.start(t, { env: { BELLJAR_MAX_SANDBOXES: '3' } });
    const ids = [];
    for (let i = 0; i < 3; i++) ids.push((await own.call('sandbox_initialize')).text);
    const refused = await own.call('sandbox_initialize');
    assert.equal(refused.isError, true);
    assert.match(refused.text, /3/);
    await own.call('sandbox_stop', { container_id: ids[0] });
    assert.match((await own.call('sandbox_initialize')).text, /^js-sbx-/);
  });
});
