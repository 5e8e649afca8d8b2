// RS32: one of our processes is killed in the middle of a run. Nothing survives that should not, other servers notice
// nothing, and the next start tidies up. tests/endurance/kills does the same at random moments.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { marker } from '../e2e/lib/belljar.mjs';
import { processes, processesWith } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { keeperOf } from '../endurance/lib/slot.mjs';
import { hasGroups } from './lib/applies.mjs';
import { Jar } from './lib/jar.mjs';

process.setMaxListeners(0); // every Watch tidies up at the end

// The shells that a word was given to, without what they have forked and not yet made into another program.
function shellsWith(word) {
  const found = processesWith(word);
  return found.filter(({ ppid }) => !found.some(({ pid }) => pid === ppid));
}

// A server with one program at work in a run and another in a session.
async function busy(t) {
  const jar = new Jar();
  t.after(() => jar.server.child.kill('SIGKILL')); // if it is still there
  await jar.start();
  const word = marker();
  const code = `import { spawn } from 'node:child_process'; spawn('/bin/sh', ['-c', 'trap "" TERM HUP; while :; do sleep 5; done; : ${word}'], { detached: true }); setInterval(() => {}, 1000)`;
  const answers = [jar.server.run(code, { timeoutMs: 30_000 })];
  const session = (await jar.server.call('sandbox_initialize')).text;
  answers.push(jar.server.call('run_js', { container_id: session, code, timeoutMs: 30_000 }));
  for (const answer of answers) answer.catch(() => {});
  await until('both programs to run', () => shellsWith(word).length === 2);
  return { jar, word, answers, session };
}
const ended = (word) => until('the programs to end', () => processesWith(word).length === 0, 2_000);
const kill = (pid, signal = 'SIGKILL') => process.kill(pid, signal);
// The dead stay in their control groups until the host's pid 1 has reaped them, which some do every other second.
const reaped = ({ watch }) => until('the host to reap the dead', () => !watch.hasSandboxes(), 5_000);
const pidOf = (entry) => Number.parseInt(entry, 10);
const controlGroup = (pid) => readFileSync(`/proc/${pid}/cgroup`, 'utf8');

test('RS32 a killed server takes its sandboxes with it, with all their processes and cgroups', async (t) => {
  const { jar, word } = await busy(t);
  process.kill(jar.server.pid, 'SIGKILL');
  await ended(word);
  await jar.watch.checkGone();
});

// Closing the sockets of their gates takes the kernel some ten milliseconds each; the end of the server must not wait for that.
test('RS32 a killed server takes many sandboxes with network with it as fast', async (t) => {
  const jar = new Jar();
  t.after(() => jar.server.child.kill('SIGKILL'));
  await jar.start({ env: { BELLJAR_MAX_NETWORK: 'internet' } });
  const word = marker();
  let session;
  for (let i = 0; i < 200; i++) session = (await jar.server.call('sandbox_initialize', { network: 'internet' })).text;
  jar.exec(session, `while :; do sleep 5; done; : ${word}`).catch(() => {});
  await until('the program to run', () => processesWith(word).length > 0);
  kill(jar.server.pid);
  await ended(word);
  await until('all sandboxes to end', () => !jar.watch.hasSandboxes(), 2_000);
  await jar.watch.checkGone();
});

test('RS32 a killed launcher takes the sandboxes with it, and the server says so', async (t) => {
  const { jar, word, answers, session } = await busy(t);
  process.kill(jar.watch.launcher, 'SIGKILL');
  await ended(word);
  await until('all sandboxed processes to end', () => !jar.watch.hasSandboxes(), 3_000);
  for (const answer of answers) assert.equal((await within(3_000, 'an answer', answer)).isError, true, 'a run that lost its sandbox is an error');
  const after = await jar.server.call('run_js', { container_id: session, code: '1' });
  assert.equal(after.isError, true, after.text);
  assert.match(after.text, /launcher|no such sandbox|stopped/i);
  const again = await jar.server.run('console.log("again")');
  assert.match(again.text, /again|launcher/, 'it serves, or it says why it cannot');
});

test('RS32 a killed keeper takes the launcher and its sandboxes with it', async (t) => {
  const { jar, word } = await busy(t);
  kill(keeperOf(jar.server.pid));
  await ended(word);
  await until('the launcher to end', () => !processes().some(({ pid, state }) => pid === jar.watch.launcher && state !== 'Z'), 2_000);
});

test('RS32 a killed server takes its sandboxes with it even if somebody has stopped the launcher', async (t) => {
  const { jar, word } = await busy(t);
  kill(jar.watch.launcher, 'SIGSTOP');
  kill(jar.server.pid);
  await ended(word);
  await jar.watch.checkGone();
});

test('RS32 a launcher that is killed while it makes sandboxes leaves none half made', async (t) => {
  for (let i = 0; i < 8; i++) {
    const jar = new Jar();
    t.after(() => jar.server.child.kill('SIGKILL'));
    await jar.start();
    for (let j = 0; j < 12; j++) jar.server.call('sandbox_initialize').catch(() => {});
    await sleep(4 * i); // chooses the moment: they are made within some 40 ms
    kill(jar.watch.launcher);
    await reaped(jar);
    jar.server.child.kill('SIGKILL');
  }
});

test('RS32 a killed init takes its sandbox with it, and the server goes on', async (t) => {
  const { jar, word, answers, session } = await busy(t);
  const group = (pid) => /\/belljar\/\d+\/s\d+/.exec(controlGroup(pid))?.[0];
  const groups = new Set(processesWith(word).map(({ pid }) => group(pid)));
  for (const entry of jar.watch.sandboxed().inits) if (groups.has(group(pidOf(entry)))) kill(pidOf(entry));
  await ended(word);
  for (const answer of answers) assert.equal((await within(2_000, 'an answer', answer)).isError, true, 'a run that lost its sandbox is an error');
  assert.equal((await jar.exec(session, 'true')).isError, true, 'the session is gone');
  assert.match((await jar.server.run('console.log("again")')).text, /again/);
  await jar.server.stop();
  await jar.watch.checkGone();
});

test('RS32 a killed program is reported as such, and its session goes on', async (t) => {
  const { jar, word, answers, session } = await busy(t);
  for (const entry of jar.watch.sandboxed().programs) if (entry.endsWith('node-MainThread') || entry.endsWith('node')) kill(pidOf(entry));
  for (const answer of answers) {
    const { isError, signal, text } = await within(2_000, 'an answer', answer);
    assert.equal(isError, true, text);
    assert.equal(signal, 'SIGKILL');
  }
  assert.equal((await jar.exec(session, 'echo still here')).text, 'still here\n');
  await jar.server.stop();
  await ended(word);
  await jar.watch.checkGone();
});

test('RS32 what a launcher left that was killed with its server is removed by the next start', async (t) => {
  const { jar, word } = await busy(t);
  kill(jar.watch.launcher); // first: it cannot tidy up after the server
  kill(jar.server.pid);
  await ended(word);
  await reaped(jar);
  assert.ok(jar.watch.isTakenByOthers() || jar.watch.left().length > 0, 'there is something to remove');
  const next = new Jar();
  t.after(() => next.server.child.kill('SIGKILL'));
  await next.start();
  assert.ok(jar.watch.isTakenByOthers() || jar.watch.left().length === 0, `left: ${jar.watch.left()}`);
  await next.watch.checkIdle();
  await next.server.stop();
  await next.watch.checkGone();
});

test('RS32 a server works that is started while the sandboxes of a killed one are dying', async (t) => {
  const { jar, word } = await busy(t);
  kill(jar.watch.launcher);
  kill(jar.server.pid);
  const next = new Jar();
  t.after(() => next.server.child.kill('SIGKILL'));
  await next.start();
  assert.equal((await next.server.call('sandbox_initialize')).isError, undefined);
  await ended(word);
});

test('RS32 neither the death of a server nor the start of another touches a third', async (t) => {
  const [first, second] = [await busy(t), await busy(t)];
  const groups = second.jar.watch.cgroups();
  kill(first.jar.watch.launcher);
  kill(first.jar.server.pid);
  const third = new Jar();
  t.after(() => third.server.child.kill('SIGKILL'));
  await third.start();
  await ended(first.word);
  assert.equal(shellsWith(second.word).length, 2, 'all processes of the other server live');
  assert.equal((await second.jar.exec(second.session, 'echo fine')).text, 'fine\n');
  assert.deepEqual(second.jar.watch.cgroups(), groups, 'with their control groups, if there are any');
  assert.equal(groups.length > 0, hasGroups);
  assert.match((await second.jar.server.run('console.log("fine")')).text, /fine/);
  await third.server.stop(); // its sandboxes cannot be told from the other's if both are a user's
  await second.jar.server.stop();
  await second.jar.watch.checkGone();
});
