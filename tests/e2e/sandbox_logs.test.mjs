// sandbox_logs: what programs in the background print.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { connect } from './lib/client.mjs';
import { freePort } from './lib/ports.mjs';
import { hello, startServer } from './lib/servers.mjs';
import { until } from './lib/wait.mjs';

let client;
before(async () => (client = await connect()));
after(() => client?.close());

const start = (t, code) => startServer(client, t, code);

describe('sandbox_logs', () => {
  // Prints what it is asked to.
  const printer = `import http from 'node:http'; console.log('first'); http.createServer((request, answer) => {
    const text = decodeURIComponent(request.url.slice(1));
    process[request.method === 'PUT' ? 'stderr' : 'stdout'].write(text, () => answer.end());
  }).listen(port);`;
  const print = (port, text, method = 'GET') => fetch(`http://127.0.0.1:${port}/${encodeURIComponent(text)}`, { method });
  const logs = async (session, more) => {
    const result = await session.call('sandbox_logs', more);
    assert.equal(result.isError, false, result.text);
    return result;
  };
  const logsUntil = (session, wanted, more) =>
    until(`the log to have ${wanted}`, async () => {
      const result = await logs(session, more);
      return result.structuredContent.text.includes(wanted) && result;
    });

  test('has both streams, and goes on at a cursor', async (t) => {
    const { session, port } = await start(t, printer);
    await print(port, 'on stderr\n', 'PUT');
    const first = await logsUntil(session, 'on stderr');
    assert.equal(first.structuredContent.text, 'first\non stderr\n');
    assert.equal(first.running, true);
    assert.equal((await logs(session, { cursor: first.cursor })).structuredContent.text, '');
    await print(port, 'second\n');
    const second = await logsUntil(session, 'second', { cursor: first.cursor });
    assert.equal(second.structuredContent.text, 'second\n');
  });

  test('returns as much as was asked for, and the rest later', async (t) => {
    const { session, port } = await start(t, printer);
    await print(port, 'ä'.repeat(50));
    await logsUntil(session, 'ä'.repeat(50));
    let text = '';
    let part = { cursor: 0, more: true };
    for (let calls = 0; part.more && calls < 50; calls++) {
      part = await logs(session, { cursor: part.cursor, maxBytes: 17 });
      assert.ok(Buffer.byteLength(part.structuredContent.text) <= 17);
      text += part.structuredContent.text;
    }
    assert.equal(text, `first\n${'ä'.repeat(50)}`);
  });

  test('says what was dropped of much output', async (t) => {
    const { session } = await start(t, `import http from 'node:http'; const line = 'x'.repeat(1023) + '\\n';
      process.stdout.write(line.repeat(8192), () => { process.stdout.write('the end\\n', () => http.createServer().listen(port)); });`);
    let cursor = 1;
    let dropped = 0;
    await until('the end of the log', async () => {
      const part = await logs(session, { cursor, maxBytes: 1 << 20 });
      ({ cursor } = part);
      dropped += part.dropped;
      return part.structuredContent.text.endsWith('the end\n');
    });
    assert.ok(dropped > 0);
    assert.equal(cursor, 8192 * 1024 + 8);
  });

  test('knows several programs by their numbers', async (t) => {
    const { session, result } = await start(t, `console.log('I am one'); ${hello}`);
    const port = await freePort();
    const second = await session.run(`const port = ${port}; console.log('I am two'); ${hello}`, { listenOnPort: port });
    const [one, two] = [result, second].map(({ structuredContent }) => structuredContent.background.process);
    assert.equal((await logs(session, { process: one })).structuredContent.text, 'I am one\n');
    assert.equal((await logs(session, { process: two })).structuredContent.text, 'I am two\n');
    assert.equal((await logs(session)).process, two);
    const none = await session.call('sandbox_logs', { process: 99 });
    assert.match(none.text, /no background program 99/);
  });

  test('has the end of a program', async (t) => {
    const { session, port } = await start(t, "import http from 'node:http'; http.createServer(() => { console.log('bye'); process.exit(7); }).listen(port);");
    await fetch(`http://127.0.0.1:${port}/`).catch(() => {});
    const result = await until('the program to end', async () => {
      const part = await logs(session);
      return !part.running && part;
    });
    assert.deepEqual([result.exitCode, result.signal, result.structuredContent.text], [7, null, 'bye\n']);
  });

  test('without a background program says how to start one', async (t) => {
    const session = await client.session(t);
    const result = await session.call('sandbox_logs');
    assert.equal(result.isError, true);
    assert.match(result.text, /listenOnPort/);
  });

  test('of another caller\'s sandbox does not exist', async (t) => {
    const { session } = await start(t, hello);
    const other = await connect();
    t.after(() => other.close());
    assert.match((await other.call('sandbox_logs', { container_id: session.id })).text, /no such sandbox/i);
  });
});
