// What is particular about belljar for an ordinary user. Started by tests/rootless/run, which says in BELLJAR_ROOTLESS
// what that user has: nothing ("plain"), subordinate ids ("ids"), a cgroup besides ("delegated"), or whatever ("own").
import assert from 'node:assert/strict';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import { marker } from '../e2e/lib/belljar.mjs';
import { descendants, processesWith } from '../e2e/lib/proc.mjs';
import { Server } from '../e2e/lib/stdio.mjs';
import { until } from '../e2e/lib/wait.mjs';

const mode = process.env.BELLJAR_ROOTLESS;
const home = process.env.BELLJAR_ROOTLESS_HOME;
const user = statSync(home).uid;
const status = (pid) => readFileSync(`/proc/${pid}/status`, 'utf8');
const field = (pid, name) => new RegExp(`^${name}:\\s+(.*)$`, 'm').exec(status(pid))[1].split(/\s+/);

async function serve(t, env = {}) {
  const server = Server.start(t, { env });
  await server.initialize();
  return server;
}

// A running program that can be found by the word.
async function busy(server, word, code = 'setInterval(() => {}, 1000)') {
  const answer = server.run(code, { args: [word], timeoutMs: 60_000 });
  answer.catch(() => {});
  await until('the program to run', () => processesWith(word).length > 0);
  return processesWith(word)[0].pid;
}

test('no process of ours is root, and programs have ids of their own if there are any', async (t) => {
  const server = await serve(t);
  const program = await busy(server, marker());
  const uid = Number(field(program, 'Uid')[0]);
  if (mode === 'plain') assert.equal(uid, user);
  if (mode === 'ids' || mode === 'delegated') assert.ok(uid >= 700_000 && uid < 765_536, `uid ${uid}`);
  for (const { pid } of [{ pid: server.pid }, ...descendants(server.pid)]) {
    let ids = [];
    try {
      ids = field(pid, 'Uid');
    } catch (error) {
      if (!/ENOENT|ESRCH/.test(error.code)) throw error; // else a helper that has done its work
    }
    assert.ok(!ids.includes('0'), `process ${pid} is root`);
  }
});

test('belljar has given up what it does not need', async (t) => {
  const server = await serve(t);
  const capabilities = BigInt(`0x${field(server.pid, 'CapEff')[0]}`);
  assert.equal(capabilities, 1n << 2n, 'CAP_DAC_READ_SEARCH, in the namespace of the sandboxes');
  assert.deepEqual(field(server.pid, 'CapBnd'), ['0000000000000000']);
  assert.deepEqual(field(server.pid, 'NoNewPrivs'), ['1']);
  assert.deepEqual(field(server.pid, 'Seccomp'), ['2']);
});

test('nothing beneath /usr can be written to, whatever the host has mounted there', async (t) => {
  const server = await serve(t);
  const seen = await server.evaluate(`import fs from 'node:fs';
    const mounts = fs.readFileSync('/proc/self/mountinfo', 'utf8').split('\\n').map((line) => line.split(' ')).filter((words) => /^\\/usr(\\/|$)/.test(words[4]));
    const attempt = (path) => { try { fs.writeFileSync(path + '/planted', ''); return 'written'; } catch (error) { return error.code; } };
    console.log(JSON.stringify(mounts.map((words) => ({ path: words[4], flags: words[5], outcome: attempt(words[4]) }))));`);
  assert.ok(seen.some(({ path }) => path === '/usr'));
  if (mode === 'ids' || mode === 'delegated') assert.ok(seen.some(({ path }) => path === '/usr/src'), 'the wrapper has mounted it');
  for (const { path, flags, outcome } of seen) {
    assert.match(flags, /^ro,nosuid,nodev/, path);
    assert.ok(['EROFS', 'EACCES'].includes(outcome), path);
  }
});

test('the files directory is the user\'s own, and its files are reported whatever their mode', async (t) => {
  const directory = mkdtempSync(join(home, 'files-'));
  t.after(() => rmSync(directory, { recursive: true }));
  if (process.getuid() === 0) chownSync(directory, user, user);
  const server = await serve(t, { FILES_DIR: directory });
  const result = await server.call('run_js_ephemeral', { code: `import fs from 'node:fs'; fs.writeFileSync('files/a.txt', 'made', { mode: 0o600 }); fs.writeFileSync('private.txt', '1', { mode: 0o600 });` });
  assert.notEqual(result.isError, true, result.text);
  assert.equal(statSync(join(directory, 'a.txt')).uid, user);
  assert.match(JSON.stringify(result), /a\.txt/);
});

test('a file that only its program may read can be read by its owner, the client', async (t) => {
  const server = await serve(t);
  const id = (await server.call('sandbox_initialize')).text;
  await server.call('run_js', { container_id: id, code: `import fs from 'node:fs'; fs.mkdirSync('d', { mode: 0o700 }); fs.writeFileSync('d/secret.txt', 'for the client', { mode: 0o600 })` });
  assert.match((await server.call('sandbox_read_file', { container_id: id, path: 'd/secret.txt' })).text, /for the client/);
});

test('a killed launcher, or server, leaves nothing behind, and its neighbour works on', async (t) => {
  const neighbour = await serve(t);
  const neighbourWord = marker();
  await busy(neighbour, neighbourWord);
  for (const victim of ['server', 'launcher', 'keeper']) {
    const server = await serve(t);
    const word = marker();
    await busy(server, word, `(await import('node:child_process')).spawn('/bin/sh', ['-c', 'trap "" TERM; while :; do sleep 60; done; : ${word}'], { detached: true }); setInterval(() => {}, 1000)`);
    const family = descendants(server.pid);
    const pid = victim === 'server' ? server.pid : family.find(({ name }) => name.startsWith(`belljar-${victim}`.slice(0, 15))).pid;
    process.kill(pid, 'SIGKILL');
    await until(`all to end after the ${victim}`, () => processesWith(word).length === 0, 2_000);
    await until('the launcher to end', () => family.every(({ pid: member }) => !processesWith('belljar-launcher').some((p) => p.pid === member)), 2_000);
  }
  assert.equal(processesWith(neighbourWord).length, 1);
});

test('nothing of a server that ended is left in the directory of locks', async () => {
  const server = await serve(null);
  await server.run('1');
  await server.stop();
  for (const parent of [`/run/user/${user}`, '/tmp']) {
    let names = [];
    try {
      names = readdirSync(join(parent, `belljar-${user}`));
    } catch {
      continue; // it does not exist
    }
    assert.ok(!names.includes(`${server.pid}.sock`), `left: ${names}`);
  }
});
