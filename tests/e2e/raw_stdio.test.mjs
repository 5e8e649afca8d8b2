// The wire itself: what a client may send, well-formed or not, and how the server ends.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';

import { marker } from './lib/belljar.mjs';
import { controlGroups, descendants, mounts, processesWith } from './lib/proc.mjs';
import { legacyVersions, meta, modernVersion, Server } from './lib/stdio.mjs';
import { until, within } from './lib/wait.mjs';

const tools = [
  'get_dependency_types', 'run_js', 'run_js_ephemeral', 'sandbox_exec', 'sandbox_initialize', 'sandbox_list', 'sandbox_list_files',
  'sandbox_logs', 'sandbox_read_file', 'sandbox_stop', 'sandbox_write_files', 'search_npm_packages',
];

// A program that says it runs and then would go on for a minute, with a child of its own.
const longProgram = `
  import { spawn } from 'node:child_process';
  spawn('/bin/sh', ['-c', 'sleep 60; : ' + process.argv[2]], { stdio: 'inherit' });
  console.log('started');
  setTimeout(() => console.log('done'), 60_000);`;

// Starts it through `server` and waits until the host sees it: { id, word, groups }.
async function startLongRun(server, id = 'long') {
  const word = marker();
  server.send({
    id,
    method: 'tools/call',
    params: {
      name: 'run_js_ephemeral',
      arguments: { code: longProgram, args: [word], timeoutMs: 120_000 },
      _meta: { progressToken: id },
    },
  });
  await server.next('progress with the output', (message) =>
    message.method === 'notifications/progress' && /started/.test(message.params.message));
  const [process] = await until('the program to be seen', () => {
    const found = processesWith(word);
    return found.length >= 2 && found;
  });
  const groups = controlGroups(process.pid);
  assert.ok(groups.length > 0, 'the program is in a control group of its own');
  return { id, word, groups };
}

async function assertNothingLeft({ word, groups }, mountsBefore) {
  await until('the processes to end', () => processesWith(word).length === 0, 2_000);
  await until('the control groups to be removed', () => !groups.some(existsSync), 2_000);
  assert.equal(mounts(), mountsBefore, 'no mount is left on the host');
}

for (const version of legacyVersions) {
  test(`the handshake of ${version} is answered with that version`, async (t) => {
    const server = Server.start(t);
    const { result } = await server.initialize(version);
    assert.equal(result.protocolVersion, version);
    assert.equal(result.serverInfo.name, 'belljar');
    assert.ok(result.capabilities.tools);
    assert.equal('resultType' in result, false);
    const list = await server.request('tools/list');
    assert.deepEqual(list.result.tools.map((tool) => tool.name).sort(), tools);
    assert.deepEqual((await server.request('ping')).result, {});
  });
}

test('a handshake that asks for an unknown or the modern version gets the newest legacy one', async (t) => {
  for (const version of [modernVersion, '1999-01-01', 'nonsense']) {
    const server = Server.start(t);
    assert.equal((await server.initialize(version)).result.protocolVersion, '2025-11-25');
  }
});

test('a handshake without a version is refused', async (t) => {
  const server = Server.start(t);
  const { error } = await server.request('initialize', { capabilities: {}, clientInfo: { name: 'x', version: '1' } });
  assert.equal(error.code, -32602);
});

test('server/discover describes the server without a handshake', async (t) => {
  const server = Server.start(t);
  const { result } = await server.request('server/discover', { _meta: meta() });
  assert.equal(result.resultType, 'complete');
  assert.deepEqual(result.supportedVersions, [modernVersion]);
  assert.ok(result.capabilities.tools);
  assert.equal(Number.isInteger(result.ttlMs), true);
  assert.match(result.cacheScope, /^(public|private)$/);
  assert.equal(result._meta['io.modelcontextprotocol/serverInfo'].name, 'belljar');
});

test('modern lists and calls carry resultType, and lists their cache hints', async (t) => {
  const server = Server.start(t);
  const list = (await server.request('tools/list', { _meta: meta() })).result;
  assert.equal(list.resultType, 'complete');
  assert.equal(Number.isInteger(list.ttlMs), true);
  assert.ok(list.cacheScope);
  const call = await server.request('tools/call', {
    name: 'run_js_ephemeral', arguments: { code: 'console.log(6 * 7)' }, _meta: meta(),
  });
  assert.equal(call.result.resultType, 'complete');
  assert.equal(call.result.structuredContent.stdout, '42\n');
  assert.equal('ttlMs' in call.result, false);
});

test('both eras are served by one process, message by message', async (t) => {
  const server = Server.start(t);
  assert.equal((await server.request('tools/list', { _meta: meta() })).result.resultType, 'complete');
  assert.equal((await server.initialize()).result.protocolVersion, '2025-11-25');
  assert.equal('resultType' in (await server.request('tools/list')).result, false);
  assert.equal((await server.request('server/discover', { _meta: meta() })).result.resultType, 'complete');
  assert.equal((await server.request('ping', { _meta: meta() })).error.code, -32601);
  assert.deepEqual((await server.request('ping')).result, {});
  assert.equal((await server.request('initialize', { protocolVersion: '2025-11-25', _meta: meta() })).error.code, -32601);
});

test('an envelope with another version or without capabilities is refused', async (t) => {
  const server = Server.start(t);
  const other = await server.request('tools/list', { _meta: { ...meta(), 'io.modelcontextprotocol/protocolVersion': '2099-01-01' } });
  assert.equal(other.error.code, -32022);
  assert.deepEqual(other.error.data, { supported: [modernVersion], requested: '2099-01-01' });
  const incomplete = await server.request('tools/list', { _meta: { 'io.modelcontextprotocol/protocolVersion': modernVersion } });
  assert.equal(incomplete.error.code, -32602);
});

test('ids come back with their type and value', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  for (const id of [0, 7, '7', '', 9007199254740991]) {
    server.received.length = 0;
    const response = await server.request('ping', undefined, id);
    assert.strictEqual(response.id, id);
  }
});

test('malformed lines are answered and the next message is served', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const malformed = [
    '{"jsonrpc":"2.0","id":1,"method":"tools/list"\n', // cut off
    '{"jsonrpc":"2.0",\n"id":2}\n', // a newline inside
    'nonsense\n', '\n', '\r\n', '{}\n', '[]\n', '42\n', 'null\n', '"text"\n',
    '{"jsonrpc":"1.0","id":3,"method":"ping"}\n', '{"jsonrpc":"2.0","id":null,"method":"ping"}\n',
    '{"jsonrpc":"2.0","id":{},"method":"ping"}\n', '{"jsonrpc":"2.0","id":4,"method":5}\n',
    '{"jsonrpc":"2.0","id":1.5,"method":"ping"}\n', '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":[]}\n',
    '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":7}}\n',
    '{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"run_js","arguments":"x"}}\n',
    '{"jsonrpc":"2.0","id":8,"method":"ping","params":"\\ud800"}\n',
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}\n',
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}\n',
    '{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{}}\n',
    '{"jsonrpc":"2.0","id":99,"result":{}}\n',
  ];
  for (const [index, line] of malformed.entries()) {
    server.sendRaw(line);
    const { result } = await server.request('ping', undefined, `after ${index}`);
    assert.deepEqual(result, {}, `ping after ${JSON.stringify(line)}`);
  }
  assert.ok(server.received.some((message) => message.error?.code === -32700), 'a parse error was reported');
  for (const message of server.received) assert.notEqual(message.id, null, 'ids that cannot be read are left out');
});

test('invalid UTF-8 and NUL bytes do not end the connection', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  server.sendRaw(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]));
  server.sendRaw(Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":1,"method":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}\n')]));
  assert.deepEqual((await server.request('ping', undefined, 'after')).result, {});
});

test('a megabyte of nesting is refused', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  server.sendRaw(`${'['.repeat(1 << 20)}\n`);
  server.sendRaw(`{"jsonrpc":"2.0","id":"deep","method":"ping","params":${'{"a":'.repeat(1 << 18)}1${'}'.repeat(1 << 18)}}\n`);
  assert.deepEqual((await server.request('ping', undefined, 'after')).result, {});
});

test('a message that arrives in pieces is put together', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const bytes = Buffer.from('{"jsonrpc":"2.0","id":"pieces","method":"ping","params":{"ü":"€"}}\n');
  for (const byte of bytes) {
    server.sendRaw(Buffer.from([byte]));
    await new Promise(setImmediate);
  }
  assert.deepEqual((await server.answer('pieces')).result, {});
});

test('a line of several megabytes is accepted', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const response = await server.request('ping', { padding: 'x'.repeat(8 << 20) });
  assert.deepEqual(response.result, {});
});

test('unknown methods and tools are told apart', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  assert.equal((await server.request('no/such/method')).error.code, -32601);
  const unknown = await server.request('tools/call', { name: 'no_such_tool', arguments: {} });
  assert.equal(unknown.error.code, -32602);
  assert.match(unknown.error.message, /no_such_tool/);
  assert.equal((await server.request('tools/list', { cursor: 'nonsense' })).error.code, -32602);
});

test('an id that is in use does not disturb the request that uses it', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const run = await startLongRun(server, 'twice');
  server.send({ id: 'twice', method: 'ping' });
  assert.deepEqual((await server.request('ping', undefined, 'after')).result, {});
  server.notify('notifications/cancelled', { requestId: 'twice' });
  await until('the run to end', () => processesWith(run.word).length === 0);
});

test('cancellation kills the run, which is then never answered', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const before = mounts();
  const run = await startLongRun(server);
  server.notify('notifications/cancelled', { requestId: run.id, reason: 'test' });
  await assertNothingLeft(run, before);
  assert.deepEqual((await server.request('ping', undefined, 'after')).result, {});
  assert.equal(server.received.some((message) => message.id === run.id), false);
});

test('cancellation of an unknown or finished request is ignored', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  await server.request('ping', undefined, 'finished');
  for (const requestId of ['finished', 'never seen', 12345]) server.notify('notifications/cancelled', { requestId });
  assert.deepEqual((await server.request('ping')).result, {});
});

test('a modern request is cancelled in the same way', async (t) => {
  const server = Server.start(t);
  const word = marker();
  server.send({ id: 1, method: 'tools/call', params: {
    name: 'run_js_ephemeral', arguments: { code: longProgram, args: [word], timeoutMs: 120_000 }, _meta: meta(),
  } });
  await until('the program to be seen', () => processesWith(word).length >= 2, 30_000);
  server.notify('notifications/cancelled', { requestId: 1, _meta: meta() });
  await until('the program to end', () => processesWith(word).length === 0, 2_000);
  assert.equal((await server.request('server/discover', { _meta: meta() }, 2)).result.resultType, 'complete');
  assert.equal(server.received.some((message) => message.id === 1), false);
});

test('progress carries the output as it appears, counts up, and stops with the answer', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const code = `
    process.stdout.write('one\\n');
    setTimeout(() => { process.stderr.write('two\\n'); setTimeout(() => console.log('three'), 200); }, 200);`;
  for (const progressToken of [0, '', 'token']) {
    server.received.length = 0;
    const params = { name: 'run_js_ephemeral', arguments: { code }, _meta: { progressToken } };
    const response = await server.request('tools/call', params);
    assert.equal(response.result.structuredContent.stdout, 'one\nthree\n');
    const progress = server.received.filter((message) => message.method === 'notifications/progress').map((message) => message.params);
    assert.ok(progress.every((params) => params.progressToken === progressToken));
    const text = progress.map((params) => params.message).join('\n');
    for (const word of ['one', 'two', 'three']) assert.ok(text.includes(word), `${word} in ${text}`);
    for (let i = 1; i < progress.length; i++) assert.ok(progress[i].progress > progress[i - 1].progress);
    await server.request('ping');
    assert.equal(server.received.findLast((message) => message.method)?.method, progress.length ? 'notifications/progress' : undefined);
    assert.ok(server.received.indexOf(response) > server.received.findLastIndex((message) => message.method), 'nothing after the answer');
  }
});

test('without a token there is no progress', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  await server.run('console.log(1)');
  assert.equal(server.received.some((message) => message.method === 'notifications/progress'), false);
});

test('requests run concurrently and are answered as they end', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const long = await startLongRun(server);
  const short = await server.run('console.log("short")');
  assert.equal(short.stdout, 'short\n');
  server.notify('notifications/cancelled', { requestId: long.id });
  await until('the run to end', () => processesWith(long.word).length === 0);
});

test('batches are served to 2025-03-26 and refused to others', async (t) => {
  const batch = '[{"jsonrpc":"2.0","id":"a","method":"ping"},{"jsonrpc":"2.0","id":"b","method":"ping"}]\n';
  const old = Server.start(t);
  await old.initialize('2025-03-26');
  old.sendRaw(batch);
  const answered = (id) => old.next(id, (message) => [message].flat().some((part) => part.id === id));
  await Promise.all([answered('a'), answered('b')]);
  const current = Server.start(t);
  await current.initialize('2025-11-25');
  current.sendRaw(batch);
  const refusal = await current.next('a refusal', (message) => message.error);
  assert.equal(refusal.error.code, -32600);
});

test('logging levels are checked', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  assert.deepEqual((await server.request('logging/setLevel', { level: 'error' })).result, {});
  assert.equal((await server.request('logging/setLevel', { level: 'loud' })).error.code, -32602);
});

test('end of input in the middle of a run ends everything within a second', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const before = mounts();
  const run = await startLongRun(server);
  const started = performance.now();
  server.child.stdin.end();
  const { code } = await within(5_000, 'belljar to end', server.exited);
  assert.ok(performance.now() - started < 1_000, `took ${performance.now() - started} ms`);
  assert.equal(code, 0);
  await assertNothingLeft(run, before);
  assert.equal(server.received.some((message) => message.id === run.id), false);
});

for (const signal of ['SIGTERM', 'SIGINT']) {
  test(`${signal} in the middle of a run ends everything within a second`, async (t) => {
    const server = Server.start(t);
    await server.initialize();
    const before = mounts();
    const run = await startLongRun(server);
    const started = performance.now();
    server.child.kill(signal);
    await within(5_000, 'belljar to end', server.exited);
    assert.ok(performance.now() - started < 1_000, `took ${performance.now() - started} ms`);
    await assertNothingLeft(run, before);
  });
}

test('live sandboxes end with the server', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const { text: id } = await server.call('sandbox_initialize');
  const word = marker();
  await server.call('sandbox_exec', { container_id: id, commands: [`setsid sh -c 'sleep 60; : ${word}' >/dev/null 2>&1 &`] });
  await until('the daemon to be seen', () => processesWith(word).length > 0);
  await server.stop();
  await until('the daemon to end', () => processesWith(word).length === 0, 2_000);
});

test('when belljar is killed its sandboxes end', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const run = await startLongRun(server);
  server.child.kill('SIGKILL');
  await server.exited;
  await until('the processes to end', () => processesWith(run.word).length === 0, 2_000);
});

test('when belljar and its launcher are killed, sandboxes end and the next start cleans up', async (t) => {
  const server = Server.start(t);
  await server.initialize();
  const run = await startLongRun(server);
  const family = descendants(server.pid);
  const keeper = family.find(({ ppid }) => ppid === server.pid);
  const launchers = [keeper, family.find(({ ppid }) => ppid === keeper.pid)];
  assert.deepEqual(launchers.map(({ name }) => name), ['belljar-keeper', 'belljar-launche']);
  // Stopped first, so that none can tidy up after another.
  for (const { pid } of launchers) process.kill(pid, 'SIGSTOP');
  server.child.kill('SIGKILL');
  for (const { pid } of launchers) process.kill(pid, 'SIGKILL');
  await server.exited;
  await until('the processes to end', () => processesWith(run.word).length === 0, 2_000);
  const next = Server.start(t);
  await next.initialize();
  assert.equal((await next.run('console.log("back")')).stdout, 'back\n');
  await until('the control groups to be removed', () => !run.groups.some(existsSync), 2_000);
});

test('two servers do not disturb each other', async (t) => {
  const [first, second] = [Server.start(t), Server.start(t)];
  await Promise.all([first.initialize(), second.initialize()]);
  const { text: id } = await first.call('sandbox_initialize');
  assert.match((await second.call('sandbox_exec', { container_id: id, commands: ['true'] })).text, /no such sandbox/i);
  await second.run('console.log(1)');
  await second.stop();
  assert.equal((await first.call('sandbox_exec', { container_id: id, commands: ['echo alive'] })).text.trim(), 'alive');
});

test('a copy that is closed and terminated at once ends quietly', async (t) => {
  for (let i = 0; i < 5; i++) {
    const server = Server.start(t);
    await server.request('server/discover', { _meta: meta() }, 'server-discover-probe-1');
    server.child.stdin.end();
    server.child.kill('SIGTERM');
    await within(1_000, 'belljar to end', server.exited);
  }
});
