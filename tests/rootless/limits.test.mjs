// Limits hold, whoever holds them. With BELLJAR_LIMITS=cgroup it must be the kernel, by cgroup v2: tests/vm/guest says
// so where it has delegated one with controllers. Elsewhere belljar's own means will do.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { marker } from '../e2e/lib/belljar.mjs';
import { controlGroups, processesWith } from '../e2e/lib/proc.mjs';
import { Server } from '../e2e/lib/stdio.mjs';
import { until } from '../e2e/lib/wait.mjs';

const byCgroup = process.env.BELLJAR_LIMITS === 'cgroup';

async function serve(t, env) {
  const server = Server.start(t, { env });
  await server.initialize();
  return server;
}

// Not a skipped test elsewhere: there is nothing that it could be about.
const onlyByCgroup = (name, body) => byCgroup && test(name, body);

// What a file says in the cgroup of the sandbox that a program is in; the program's own is one below.
const setting = (pid, name) => readFileSync(`${controlGroups(pid)[0]}/../${name}`, 'utf8').trim();

async function programOf(server, code) {
  const word = marker();
  server.run(code, { args: [word], timeoutMs: 120_000 }).catch(() => {}); // it ends with the server
  return (await until('the program to run', () => processesWith(word)[0], 60_000)).pid;
}

onlyByCgroup('the kernel was told the limits', async (t) => {
  const server = await serve(t, { SANDBOX_MEMORY_LIMIT: '128m', BELLJAR_PIDS: '64', SANDBOX_CPU_LIMIT: '0.5' });
  const pid = await programOf(server, 'setInterval(() => {}, 1000)');
  assert.equal(setting(pid, 'memory.max'), String(128 << 20));
  assert.equal(setting(pid, 'memory.swap.max'), '0');
  assert.equal(setting(pid, 'pids.max'), '65', 'with init');
  assert.equal(setting(pid, 'cpu.max'), '50000 100000');
  const { isolation } = await server.run('1');
  for (const name of ['memory-limit', 'pids-limit', 'cpu-limit', 'swap']) assert.ok(!isolation.weaker.includes(name), name);
});

test('a program that takes too much memory is ended and told so', async (t) => {
  const server = await serve(t, { SANDBOX_MEMORY_LIMIT: '128m' });
  const result = await server.run('const a = []; for (;;) { a.push(Buffer.alloc(1 << 20, 1)); await new Promise(setImmediate); }', { timeoutMs: 60_000 });
  assert.equal(result.isError, true);
  assert.equal(result.oomKilled, true, result.text);
  assert.match(result.text, /memory/);
  assert.match((await server.run('console.log("next")')).text, /next/);
});

onlyByCgroup('files count as memory of the program that writes them', async (t) => {
  const server = await serve(t, { SANDBOX_MEMORY_LIMIT: '128m', BELLJAR_DISK: '512m' });
  const result = await server.run(`import fs from 'node:fs'; for (let i = 0; i < 256; ++i) fs.appendFileSync('/tmp/large', Buffer.alloc(1 << 20, 1));`, { timeoutMs: 60_000 });
  assert.equal(result.oomKilled, true, result.text);
});

test('processes are limited, and all of them end with the program', async (t) => {
  const server = await serve(t, { BELLJAR_PIDS: '64' });
  const word = marker();
  const result = await server.run(
    `import { spawn } from 'node:child_process';
     let made = 0;
     const more = () => { const child = spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 60; done; : ${word}'], { detached: true, stdio: 'ignore' });
       child.on('spawn', () => { made += 1; more(); }); child.on('error', (e) => { console.log(e.code, made); process.exit(0); }); };
     more();`, { timeoutMs: 60_000 });
  const [code, made] = result.text.split('\n').find((line) => line.startsWith('EAGAIN'))?.split(' ') ?? [result.text];
  assert.equal(code, 'EAGAIN');
  assert.ok(Number(made) < 64);
  await until('the children to end', () => processesWith(word).length === 0);
});

test('processors are limited', async (t) => {
  const server = await serve(t, { SANDBOX_CPU_LIMIT: '0.5' });
  assert.equal(await server.evaluate(`import os from 'node:os'; console.log(os.availableParallelism())`), 1);
  if (!byCgroup) return;
  const pid = await programOf(server, 'for (;;);');
  await until('the kernel to slow it down', () => Number(/^nr_throttled (\d+)$/m.exec(setting(pid, 'cpu.stat'))[1]) > 0, 60_000);
});
