// Which ports are published, on which address: chosen by belljar, several of one session, the operator's address, their end.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect } from './lib/client.mjs';
import { closed, dial, freePort, isFree, tryToConnect } from './lib/ports.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

let client;
before(async () => (client = await connect()));
after(() => client?.close());

const says = (text, port = 'process.env.PORT') => `import http from 'node:http'; http.createServer((_, answer) => answer.end('${text}')).listen(${port});`;
// `host` as a URL has it.
const get = (port, host = '127.0.0.1') => fetch(`http://${host}:${port}/`).then((answer) => answer.text());
const listed = async (session, of = client) => (await of.succeed('sandbox_list')).sandboxes.find(({ container_id }) => container_id === session.id);

describe('listenOnPort 0', () => {
  test('is a port that is free, told to the program and to the client', async (t) => {
    const session = await client.session(t);
    const { text, background } = await session.run(says('hello'), { listenOnPort: 0 });
    assert.ok(background.port >= 1024 && background.port <= 65535);
    assert.equal(background.url, `http://127.0.0.1:${background.port}/`);
    assert.ok(text.includes(background.url), text);
    assert.equal(await get(background.port), 'hello');
  });

  test('is another port for each program that runs', async (t) => {
    const sessions = [await client.session(t), await client.session(t)];
    const started = await Promise.all([0, 1, 2, 3, 4, 5].map((n) => sessions[n % 2].run(says(`number ${n}`), { listenOnPort: 0 })));
    const ports = started.map(({ background }) => background.port);
    assert.equal(new Set(ports).size, 6);
    for (const [n, port] of ports.entries()) assert.equal(await get(port), `number ${n}`);
  });

  test('is the same port again for the program that follows one that ended', async (t) => {
    const session = await client.session(t);
    const failed = await session.call('run_js', { code: 'console.log(process.env.PORT); process.exit(1)', listenOnPort: 0 });
    assert.equal(failed.isError, true);
    const { background } = await session.run(says('hello'), { listenOnPort: 0 });
    assert.match(failed.text, new RegExp(`\\b${background.port}\\b`));
    assert.deepEqual((await listed(session)).ports, [background.port]);
    assert.equal(await get(background.port), 'hello');
  });

  test('with a PORT in env is an error that says so, and nothing starts', async (t) => {
    const session = await client.session(t);
    const result = await session.call('run_js', { code: says('hello'), listenOnPort: 0, env: { PORT: '8080' } });
    assert.equal(result.isError, true);
    assert.match(result.text, /listenOnPort.*env.*PORT/);
    assert.deepEqual((await listed(session)).ports, []);
  });
});

describe('PORT', () => {
  test('is listenOnPort, unless env sets it', async (t) => {
    const session = await client.session(t);
    const [port, other] = [await freePort(), await freePort()];
    await session.run(says('by PORT'), { listenOnPort: port });
    assert.equal(await get(port), 'by PORT');
    const code = `import http from 'node:http'; http.createServer((_, answer) => answer.end(process.env.PORT)).listen(${other});`;
    await session.run(code, { listenOnPort: other, env: { PORT: 'mine' } });
    assert.equal(await get(other), 'mine');
  });

  test('is not set otherwise', async (t) => {
    const session = await client.session(t, { port: await freePort() });
    assert.equal((await session.run('console.log(process.env.PORT)')).stdout, 'undefined\n');
  });
});

describe('port 0 of sandbox_initialize', () => {
  test('is reserved, reported, and known to all programs of the session', async (t) => {
    const made = await client.succeed('sandbox_initialize', { port: 0 });
    t.after(() => client.call('sandbox_stop', { container_id: made.container_id }));
    assert.equal(made.text, made.container_id, 'the text is the id alone');
    const [port] = made.ports;
    assert.equal(await isFree(port), false);
    const inside = (name, more) => client.succeed(name, { container_id: made.container_id, ...more });
    assert.equal((await inside('sandbox_exec', { commands: ['echo $PORT'] })).text, `${port}\n`);
    assert.equal((await inside('run_js', { code: 'console.log(process.env.PORT)' })).stdout, `${port}\n`);
    assert.equal((await inside('run_js', { code: 'console.log(process.env.PORT)', env: { PORT: '1' } })).stdout, '1\n');
    await inside('run_js', { code: says('on it'), listenOnPort: port });
    assert.equal(await get(port), 'on it');
  });
});

describe('several ports of one session', () => {
  test('are served at the same time, and listed', async (t) => {
    const first = await freePort();
    const session = await client.session(t, { port: first });
    assert.deepEqual((await listed(session)).ports, [first]);
    const second = await freePort();
    await session.run(says('second', second), { listenOnPort: second });
    const { background } = await session.run(says('third'), { listenOnPort: 0 });
    await session.run(says('first', first), { listenOnPort: first });
    assert.deepEqual(await Promise.all([first, second, background.port].map((port) => get(port))), ['first', 'second', 'third']);
    assert.deepEqual((await listed(session)).ports, [first, second, background.port].sort((a, b) => a - b));
    assert.match((await client.succeed('sandbox_list')).text, new RegExp(`ports .*\\b${second}\\b`));
  });

  test('are all closed at once when the session is stopped', async (t) => {
    const session = await client.session(t);
    const ports = [];
    for (const text of ['a', 'b', 'c']) ports.push((await session.run(says(text), { listenOnPort: 0 })).background.port);
    const sockets = await Promise.all(ports.map((port) => dial(t, port)));
    const ends = sockets.map(closed);
    await session.stop();
    for (const port of ports) assert.equal(await tryToConnect(port, '127.0.0.1'), 'ECONNREFUSED');
    await Promise.all(ends);
  });

  test('are closed although the call that stops the session is called off', async (t) => {
    const server = Server.start(t);
    await server.initialize();
    for (let round = 0; round < 10; round++) {
      const { text: container_id } = await server.call('sandbox_initialize');
      const { background } = await server.call('run_js', { container_id, code: says('hello'), listenOnPort: 0 });
      assert.equal(await get(background.port), 'hello');
      server.send({ id: `stop ${round}`, method: 'tools/call', params: { name: 'sandbox_stop', arguments: { container_id } } });
      server.notify('notifications/cancelled', { requestId: `stop ${round}` });
      await until('the port to be closed', async () => (await tryToConnect(background.port, '127.0.0.1')) === 'ECONNREFUSED');
    }
    assert.equal((await server.call('sandbox_list')).text, 'No live sandboxes.');
  });

  test('are closed when the lifetime of the session ends', async (t) => {
    const brief = await connect({ env: { NODE_CONTAINER_TIMEOUT: '2' } });
    t.after(() => brief.close());
    const session = await brief.session(t);
    const { background } = await session.run(says('brief'), { listenOnPort: 0 });
    const socket = await dial(t, background.port);
    await closed(socket);
    await until('the port to be closed', async () => (await tryToConnect(background.port, '127.0.0.1')) === 'ECONNREFUSED');
  });
});

describe('publish-address', () => {
  // A server with that address, and what it said of a program that is to serve there.
  async function publish(t, address) {
    const server = Server.start(null, { env: { BELLJAR_PUBLISH_ADDRESS: address } });
    t.after(() => server.child.kill('SIGKILL'));
    await server.initialize();
    const { text: container_id } = await server.call('sandbox_initialize');
    const result = await server.call('run_js', { container_id, code: says('hello'), listenOnPort: 0 });
    return { server, result, background: result.background };
  }

  const warning = /publish-address is .*whoever reaches this host/g;
  for (const [address, shown, reached, not] of [
    ['127.0.0.2', '127.0.0.2', ['127.0.0.2'], ['127.0.0.1', '::1']],
    ['::1', '[::1]', ['::1'], ['127.0.0.1']],
    ['0.0.0.0', '127.0.0.1', ['127.0.0.1', '127.0.0.2'], ['::1']],
    ['::', '[::1]', ['::1', '127.0.0.1'], []],
  ]) {
    test(`${address} is where ports are published`, async (t) => {
      const { server, background } = await publish(t, address);
      assert.equal(background.url, `http://${shown}:${background.port}/`);
      assert.equal(await get(background.port, shown), 'hello');
      for (const host of reached) assert.equal(await tryToConnect(background.port, host), 'connected', host);
      for (const host of not) assert.notEqual(await tryToConnect(background.port, host), 'connected', host);
      const open = ['0.0.0.0', '::'].includes(address);
      if (open) await until('a warning', () => server.stderr.match(warning));
      assert.equal((server.stderr.match(warning) ?? []).length, open ? 1 : 0, server.stderr);
    });
  }

  test('that the host does not have is an error that names the setting', async (t) => {
    const { result } = await publish(t, '192.0.2.1');
    assert.equal(result.isError, true);
    assert.match(result.text, /192\.0\.2\.1.*publish-address/);
  });
});
