// The sandboxes and copies of Node.js that are kept ready (docs/nodes.md): as many as callers want, and not for long of a
// zygote whose time is over.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { descendants, textOf } from './lib/proc.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

const startOf = (result) => /"start":"([\w-]+)"/.exec(result.text)?.[1];
// Where the C library is: the same in all copies of one zygote.
const layout = 'console.log(/^(\\w+)-.*libc\\.so/m.exec((await import("node:fs")).readFileSync("/proc/self/maps", "utf8"))[1])';

// A server that says what it does.
async function start(t, env) {
  const server = Server.start(t, { env: { BELLJAR_LOG_LEVEL: 'debug', ...env } });
  await server.initialize();
  return server;
}

// What the server has said, or will say, after the position `from` of its log.
const said = (server, what, from = 0) => until(`${what} in the log`, () => what.exec(server.stderr.slice(from)), 60_000);
const filled = (server, from) => said(server, /spare sandboxes: (\d+) ready, of 1 kinds/, from);

async function run(server, code = '1') {
  const result = await server.run(code);
  assert.ok(!result.isError, result.text);
  return result;
}
const burst = (server) => Promise.all(Array.from({ length: 20 }, () => run(server)));

// A copy is the second process of a sandbox, a zygote is in none.
function nodes(server) {
  const found = { copies: [], zygotes: [] };
  for (const { pid } of descendants(server.pid)) {
    if (!textOf(`/proc/${pid}/maps`).includes('/run/zygote.so')) continue;
    (/^NSpid:.*\t2$/m.test(textOf(`/proc/${pid}/status`)) ? found.copies : found.zygotes).push(pid);
  }
  return found;
}

// Twenty calls may come as several smaller bursts if the machine is busy: then once more.
async function burstUntilReady(server) {
  for (let left = 20; left > 0; left--) {
    const from = server.stderr.length;
    const ways = (await burst(server)).map(startOf);
    await filled(server, from);
    if (ways.every((way) => way === 'parked-fork')) return;
  }
  assert.fail('no burst has found all it wanted');
}

test('what a burst wants is ready when it has come before', async (t) => {
  const server = await start(t, { BELLJAR_NODE_START: 'auto' });
  await run(server);
  await said(server, /zygote \d+ is ready/);
  await burstUntilReady(server);
  await until('copies that wait', () => nodes(server).copies.length >= 20);
});

test('what is kept ready stays within the memory for it', async (t) => {
  const server = await start(t, { BELLJAR_NODE_START: 'parked', BELLJAR_SPARE_MEMORY: '12m' });
  for (let n = 0; n < 3; n++) {
    const from = server.stderr.length;
    await burst(server);
    await filled(server, from);
  }
  const counts = [...server.stderr.matchAll(/spare sandboxes: (\d+) ready/g)].map(([, count]) => Number(count));
  assert.equal(Math.max(...counts), 3);
});

test('a zygote is renewed while calls go on, and what it left is replaced', async (t) => {
  const server = await start(t, { BELLJAR_NODE_START: 'parked', BELLJAR_ZYGOTE_COPIES: '10' });
  const first = await run(server, layout);
  while (!/zygote 3 takes the place of 2, which made \d+ copies/.test(server.stderr)) {
    assert.equal(startOf(await run(server)), 'parked-fork', 'nobody has to do without');
  }
  await until('the old ones to end', () => nodes(server).zygotes.length === 1);
  await filled(server, server.stderr.search(/zygote 3 takes the place/));
  const [one, two] = [await run(server, layout), await run(server, layout)];
  assert.equal(one.stdout, two.stdout, 'both are copies of the new one');
  assert.notEqual(one.stdout, first.stdout);
});

test('a zygote that is killed is missed by nobody', async (t) => {
  const server = await start(t, { BELLJAR_NODE_START: 'auto' });
  await run(server);
  await said(server, /zygote 1 is ready/);
  await burstUntilReady(server);
  for (const pid of nodes(server).zygotes) process.kill(pid, 'SIGKILL');
  await said(server, /zygote 1 died/);
  assert.ok((await burst(server)).some((result) => startOf(result) === 'parked-fork'), 'copies that wait need it no more');
  await said(server, /zygote 2 is ready/);
  await burstUntilReady(server);
});

test('sessions that run nothing give their Node.js back, but for the last ones', async (t) => {
  const server = await start(t, { BELLJAR_NODE_START: 'parked', BELLJAR_SPARE_MEMORY: '8m' });
  const sessions = [];
  for (let n = 0; n < 12; n++) sessions.push((await server.call('sandbox_initialize')).container_id);
  const fewer = async () => {
    await run(server); // whoever gets a sandbox makes room
    return nodes(server).copies.length <= 8 + 2; // and two spares
  };
  await until('the first ones to end', fewer, 30_000);
  const { stdout } = await server.call('run_js', { container_id: sessions[0], code: 'console.log("still works")' });
  assert.equal(stdout, 'still works\n');
});
