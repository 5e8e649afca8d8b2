// RS32: the server or its launcher is killed in the middle of a run. Nothing survives, and the next start tidies up.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { marker } from '../e2e/lib/belljar.mjs';
import { processesWith } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { Jar } from './lib/jar.mjs';

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
  await until('both programs to run', () => processesWith(word).length >= 2);
  return { jar, word, answers, session };
}
const ended = (word) => until('the programs to end', () => processesWith(word).length === 0, 3_000);

test('RS32 a killed server takes its sandboxes with it, with all their processes and cgroups', async (t) => {
  const { jar, word } = await busy(t);
  process.kill(jar.server.pid, 'SIGKILL');
  await ended(word);
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

test('RS32 what a launcher left that was killed with its server is removed by the next start', async (t) => {
  const { jar, word } = await busy(t);
  process.kill(jar.watch.launcher, 'SIGSTOP'); // so that it cannot tidy up after the server that it sees dying
  process.kill(jar.server.pid, 'SIGKILL');
  process.kill(jar.watch.launcher, 'SIGKILL');
  await ended(word);
  const next = new Jar();
  t.after(() => next.server.child.kill('SIGKILL'));
  await next.start();
  assert.ok(jar.watch.isTakenByOthers() || jar.watch.cgroups().length === 0, `left: ${jar.watch.cgroups()}`);
  await next.watch.checkIdle();
  await next.server.stop();
  await next.watch.checkGone();
});
