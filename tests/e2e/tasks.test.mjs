// The tasks extension of the modern era: programs that take longer than a client should wait for.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { marker } from './lib/belljar.mjs';
import { processesWith } from './lib/proc.mjs';
import { meta, Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

const knowsTasks = meta({
  'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
});

const ask = async (server, method, params) => {
  const { result, error } = await server.request(method, { ...params, _meta: knowsTasks });
  assert.ok(result, JSON.stringify(error));
  return result;
};

const run = (server, code, word) =>
  ask(server, 'tools/call', { name: 'run_js_ephemeral', arguments: { code, args: [word], timeoutMs: 120_000 } });

const endless = "console.log('started'); setInterval(() => {}, 1000);";
const slow = "console.log('started'); setTimeout(() => console.log('finished'), 6_500);";

test('a server that has programs to run offers tasks', async (t) => {
  const server = Server.start(t);
  const { capabilities } = await ask(server, 'server/discover', {});
  assert.deepEqual(capabilities.extensions, { 'io.modelcontextprotocol/tasks': {} });
});

test('a short program is answered with its result', async (t) => {
  const server = Server.start(t);
  const result = await run(server, 'console.log(6 * 7)', marker());
  assert.equal(result.resultType, 'complete');
  assert.match(result.content[0].text, /42/);
});

test('a long program becomes a task, and has its result when it has ended', async (t) => {
  const server = Server.start(t);
  const task = await run(server, slow, marker());
  assert.equal(task.resultType, 'task');
  assert.equal(task.status, 'working');
  const done = await until('the task to end', async () => {
    const now = await ask(server, 'tasks/get', { taskId: task.taskId });
    return now.status !== 'working' && now;
  }, 60_000);
  assert.equal(done.status, 'completed');
  assert.match(done.result.content[0].text, /started\nfinished/);
  assert.equal(done.result.isError, undefined);
});

test('to cancel a task kills its program, and so does the end of the server', async (t) => {
  const server = Server.start(t);
  const words = [marker(), marker()];
  const [cancelled, left] = await Promise.all(words.map((word) => run(server, endless, word)));
  assert.equal(cancelled.resultType, 'task');
  assert.ok(words.every((word) => processesWith(word).length > 0), 'both programs run');
  await ask(server, 'tasks/cancel', { taskId: cancelled.taskId });
  await until('the program to end', () => processesWith(words[0]).length === 0);
  assert.equal((await ask(server, 'tasks/get', { taskId: cancelled.taskId })).status, 'cancelled');
  assert.equal((await ask(server, 'tasks/get', { taskId: left.taskId })).status, 'working');
  server.child.stdin.end();
  await server.exited;
  await until('the other program to end', () => processesWith(words[1]).length === 0);
});
