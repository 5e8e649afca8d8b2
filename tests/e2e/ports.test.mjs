// Published ports and the programs behind them.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { networkInterfaces } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { marker } from './lib/belljar.mjs';
import { connect } from './lib/client.mjs';
import { closed, dial, freePort, isFree, readAll, readUntil, takePort, tryToConnect } from './lib/ports.mjs';
import { processesWith } from './lib/proc.mjs';
import { get, hello, startServer } from './lib/servers.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

let client;
before(async () => (client = await connect()));
after(() => client?.close());

const start = (t, code, more) => startServer(client, t, code, more);
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

describe('a server in the background', () => {
  test('is running and reachable when the call returns', async (t) => {
    const { session, port, result } = await start(t, hello);
    assert.match(result.text, /^Server started in background; logs at /);
    assert.ok(result.text.includes(session.id) && result.text.includes(`http://127.0.0.1:${port}/`));
    assert.equal(await get(port), 'hello');
  });

  test('is reachable by a port that sandbox_initialize published', async (t) => {
    const port = await freePort();
    const session = await client.session(t, { port });
    await session.exec(`nohup node -e "const port = ${port}; require('http').createServer((_, answer) => answer.end('by exec')).listen(port)" >/dev/null 2>&1 &`);
    await until('the server to listen', () => get(port).catch(() => ''));
    assert.equal(await get(port), 'by exec');
  });

  test('is waited for when it listens late', async (t) => {
    const { port } = await start(t, hello.replace(/http\.create.*/, (listen) => `setTimeout(() => ${listen.slice(0, -1)}, 300)`));
    assert.equal(await get(port), 'hello');
  });

  for (const address of ['127.0.0.1', '::1', '0.0.0.0', '::']) {
    test(`is found when it listens on ${address} only`, async (t) => {
      const { port } = await start(t, hello.replace('listen(port)', `listen(port, '${address}')`));
      assert.equal(await get(port), 'hello');
    });
  }

  test('has changed files in its report', async (t) => {
    const { result } = await start(t, `import fs from 'node:fs'; fs.writeFileSync('files/a', 'x'); ${hello}`);
    assert.deepEqual(result.changes, ['a was created']);
  });

  test('leaves the session to other programs', async (t) => {
    const { session, port } = await start(t, hello);
    const { stdout } = await session.run(`console.log(await (await fetch('http://127.0.0.1:${port}/')).text())`);
    assert.equal(stdout, 'hello\n');
    assert.equal(await get(port), 'hello');
  });
});

describe('what passes through a port', () => {
  test('many requests on one connection', async (t) => {
    const { port } = await start(t, "import http from 'node:http'; http.createServer((request, answer) => answer.end(request.url)).listen(port);");
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());
    const ports = new Set();
    for (let n = 0; n < 50; n++) {
      const [answer] = await once(http.get({ port, agent, path: `/${n}` }), 'response');
      ports.add(answer.socket.localPort);
      assert.equal((await readAll(answer)).toString(), `/${n}`);
    }
    assert.equal(ports.size, 1);
  });

  test('64 MiB in both directions, unchanged', async (t) => {
    const { port } = await start(t, "import http from 'node:http'; http.createServer((request, answer) => request.pipe(answer)).listen(port);");
    const body = randomBytes(64 << 20);
    const request = http.request({ port, method: 'POST' });
    request.end(body);
    const [answer] = await once(request, 'response');
    assert.equal(sha256(await readAll(answer)), sha256(body));
  });

  test('events, each as it is sent', async (t) => {
    // The next event is sent only after the one before was received and asked for.
    const { port } = await start(t, `import http from 'node:http'; let events;
      http.createServer((request, answer) => {
        if (request.url === '/next') { events.write('data: ' + Date.now() + '\\n\\n'); answer.end(); }
        else { events = answer; answer.writeHead(200, { 'content-type': 'text/event-stream' }); answer.flushHeaders(); }
      }).listen(port);`);
    const stream = await fetch(`http://127.0.0.1:${port}/events`);
    assert.equal(stream.headers.get('content-type'), 'text/event-stream');
    const reader = stream.body.getReader();
    for (let n = 0; n < 5; n++) {
      await fetch(`http://127.0.0.1:${port}/next`);
      assert.match(Buffer.from((await reader.read()).value).toString(), /^data: \d+\n\n$/);
    }
    await reader.cancel();
  });

  test('a WebSocket', async (t) => {
    // Enough of RFC 6455 to echo frames of less than 126 bytes.
    const { port } = await start(t, `import http from 'node:http'; import { createHash } from 'node:crypto';
      const server = http.createServer();
      server.on('upgrade', (request, socket) => {
        const accept = createHash('sha1').update(request.headers['sec-websocket-key'] + '258EAFA5-E914-47DA-95CA-C5AB0DC85B11').digest('base64');
        socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\nsec-websocket-accept: ' + accept + '\\r\\n\\r\\n');
        socket.on('data', (frame) => {
          const text = frame.subarray(6).map((byte, at) => byte ^ frame[2 + at % 4]);
          socket.write(Buffer.concat([Buffer.from([0x81, text.length]), text]));
        });
      });
      server.listen(port);`);
    const socket = await dial(t, port);
    socket.write('GET / HTTP/1.1\r\nhost: x\r\nupgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\nsec-websocket-version: 13\r\n\r\n');
    const handshake = await readUntil(socket, (bytes) => bytes.includes('\r\n\r\n'));
    assert.match(handshake.toString(), /^HTTP\/1.1 101 [^]*sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK\+xOo=/);
    for (const text of ['one', 'two', 'drei']) {
      const mask = randomBytes(4);
      socket.write(Buffer.concat([Buffer.from([0x81, 0x80 | text.length]), mask, Buffer.from(text).map((byte, at) => byte ^ mask[at % 4])]));
      const frame = await readUntil(socket, (bytes) => bytes.length >= 2 + text.length);
      assert.deepEqual([frame[0], frame[1], frame.subarray(2).toString()], [0x81, text.length, text]);
    }
  });

  test('the end of one direction, while the other stays open', async (t) => {
    const { port } = await start(t, `import net from 'node:net'; net.createServer({ allowHalfOpen: true }, (socket) => {
      let all = ''; socket.on('data', (text) => (all += text)).on('end', () => socket.end(all.toUpperCase())).on('error', () => {});
    }).listen(port);`);
    const socket = await dial(t, port, { allowHalfOpen: true });
    socket.end('asked and ended');
    assert.equal((await readAll(socket)).toString(), 'ASKED AND ENDED');
  });

  test('many connections at once, each its own', async (t) => {
    const { port } = await start(t, "import net from 'node:net'; net.createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(port);");
    const sockets = await Promise.all(Array.from({ length: 100 }, () => dial(t, port)));
    sockets.forEach((socket, n) => socket.end(`${n}`));
    const answers = await Promise.all(sockets.map(readAll));
    assert.deepEqual(answers.map(String), sockets.map((_, n) => `${n}`));
  });

  test('a connection is closed when nothing listens inside any more', async (t) => {
    const { session, port } = await start(t, hello);
    await session.exec('kill -9 -1');
    await until('connections to be closed', () => get(port).then(() => false, () => true));
  });
});

describe('a server that does not start', () => {
  const attempt = async (t, code, more = {}) => {
    const session = await client.session(t);
    const port = await freePort();
    const result = await session.call('run_js', { code: `const port = ${port};\n${code}`, listenOnPort: port, timeoutMs: 1000, ...more });
    assert.equal(result.isError, true);
    return { session, port, ...result };
  };

  test('because the program fails is an error with what it printed', async (t) => {
    const { text } = await attempt(t, "console.log('on stdout'); console.error('on stderr'); throw new Error('no server today')", { timeoutMs: 10_000 });
    assert.match(text, /^Error during execution: /m);
    for (const part of ['on stdout', 'on stderr', 'no server today']) assert.ok(text.includes(part), part);
  });

  test('because the program simply ends is an error too', async (t) => {
    const { text } = await attempt(t, "console.log('done')", { timeoutMs: 10_000 });
    assert.match(text, /ended before it listened on port \d+/);
    assert.match(text, /done/);
  });

  test('because it never listens is ETIMEDOUT', async (t) => {
    const { text } = await attempt(t, "console.log('thinking'); setTimeout(() => {}, 1e6)");
    assert.match(text, /ETIMEDOUT/);
    assert.match(text, /nothing in the sandbox listens/);
    assert.match(text, /thinking/);
  });

  test('because it listens on another port is told which', async (t) => {
    const { text } = await attempt(t, hello.replace('listen(port)', 'listen(4321)'));
    assert.match(text, /ETIMEDOUT/);
    assert.match(text, /port 4321 instead/);
  });

  test('leaves no process', async (t) => {
    const word = marker();
    await attempt(t, 'setTimeout(() => {}, 1e6)', { args: [word] });
    assert.deepEqual(processesWith(word), []);
  });

  test('can be corrected in the same session, with the same port', async (t) => {
    const { session, port } = await attempt(t, 'process.exit(1)', { timeoutMs: 10_000 });
    await session.run(`const port = ${port};\n${hello}`, { listenOnPort: port });
    assert.equal(await get(port), 'hello');
  });
});

describe('a port that cannot be had', () => {
  test('because the host uses it is an error before anything starts', async (t) => {
    const port = await takePort(t);
    const session = await client.session(t);
    const result = await session.call('run_js', { code: "import fs from 'node:fs'; fs.writeFileSync('ran', '')", listenOnPort: port });
    assert.equal(result.isError, true);
    assert.match(result.text, new RegExp(`port ${port} of the host is taken`));
    assert.match((await session.exec('ls')).text, /^(?![^]*\bran\b)/);
  });

  test('for a session because the host uses it leaves no sandbox', async (t) => {
    const port = await takePort(t);
    const result = await client.call('sandbox_initialize', { port });
    assert.equal(result.isError, true);
    assert.match(result.text, new RegExp(`port ${port} of the host is taken`));
    assert.deepEqual((await client.succeed('sandbox_list')).sandboxes, []);
  });

  test('because another sandbox has it is an error', async (t) => {
    const { port } = await start(t, hello);
    const other = await client.session(t);
    const result = await other.call('run_js', { code: 'console.log(1)', listenOnPort: port });
    assert.equal(result.isError, true);
    assert.match(result.text, /taken by another program or sandbox/);
  });

  test('because a program of the session serves it still is a clear error', async (t) => {
    const { session, port } = await start(t, hello);
    const result = await session.call('run_js', { code: `const port = ${port};\n${hello}`, listenOnPort: port });
    assert.equal(result.isError, true);
    assert.match(result.text, new RegExp(`listens on port ${port} already`));
    assert.equal(await get(port), 'hello');
  });

  test('because a program of the session serves it can be had by what the error says', async (t) => {
    const { session, port } = await start(t, hello);
    const again = { code: `const port = ${port};\n${hello.replace('hello', 'hello again')}`, listenOnPort: port };
    const { text } = await session.call('run_js', again);
    await session.exec(/sandbox_exec and "(.*?)"/.exec(text)[1]);
    const result = await session.call('run_js', again);
    assert.equal(result.isError, false, result.text);
    assert.equal(await get(port), 'hello again');
  });

  for (const port of [-1, 1, 80, 1023, 65536, 2 ** 32 + 8080, 8080.5, '8080', '8080:80', [8080]]) {
    test(`because it is ${JSON.stringify(port)} is refused by name`, async (t) => {
      const session = await client.session(t);
      for (const result of [await client.call('sandbox_initialize', { port }), await session.call('run_js', { code: '1', listenOnPort: port })]) {
        assert.equal(result.isError, true, JSON.stringify(result));
        assert.match(result.text, /port|listenOnPort/i);
        assert.match(result.text, /1024|integer|number/);
      }
    });
  }
});

describe('who reaches a port', () => {
  test('nobody by another address than 127.0.0.1', async (t) => {
    const { port } = await start(t, hello);
    const addresses = Object.values(networkInterfaces()).flat().filter(({ internal }) => !internal)
      .map(({ address, family, scopeid }) => (family === 'IPv6' && scopeid ? null : address)).filter(Boolean);
    for (const host of ['127.0.0.2', '::1', ...addresses]) assert.notEqual(await tryToConnect(port, host), 'connected', host);
    assert.equal(await tryToConnect(port, '127.0.0.1'), 'connected');
  });

  test('no other sandbox', async (t) => {
    const { port } = await start(t, hello);
    const other = await client.session(t);
    const { stdout } = await other.run(`import net from 'node:net'; net.connect(${port}, '127.0.0.1').on('connect', () => console.log('connected')).on('error', (error) => console.log(error.code))`);
    assert.equal(stdout, 'ECONNREFUSED\n');
  });
});

describe('the end', () => {
  test('of a sandbox ends its background programs and frees its port', async (t) => {
    const word = marker();
    const { session, port } = await start(t, hello, { args: [word] });
    assert.ok(processesWith(word).length > 0);
    await session.stop();
    assert.deepEqual(processesWith(word), []);
    assert.equal(await isFree(port), true);
  });

  test('of a sandbox ends open connections', async (t) => {
    const { session, port } = await start(t, "import net from 'node:net'; net.createServer((socket) => socket.on('error', () => {}).write('x')).listen(port);");
    const socket = await dial(t, port);
    await readUntil(socket, (bytes) => bytes.length === 1);
    const end = closed(socket);
    await session.stop();
    await end;
  });

  test('of the server by SIGKILL frees the port and ends the program', async (t) => {
    const word = marker();
    const server = Server.start(null);
    t.after(() => server.child.kill('SIGKILL'));
    await server.initialize();
    const port = await freePort();
    const { text } = await server.call('sandbox_initialize');
    await server.call('run_js', { container_id: text, code: `const port = ${port};\n${hello}`, args: [word], listenOnPort: port });
    assert.equal(await get(port), 'hello');
    server.child.kill('SIGKILL');
    await until('the port to be free', () => isFree(port));
    await until('the program to end', () => processesWith(word).length === 0);
  });

  test('does not come to a session by idleness while its program runs', async (t) => {
    const impatient = await connect({ env: { BELLJAR_SESSION_IDLE: '1' } });
    t.after(() => impatient.close());
    const busy = await impatient.session(t);
    const port = await freePort();
    await busy.run(`const port = ${port};\n${hello}`, { listenOnPort: port });
    const idle = await impatient.session(t);
    const ids = async () => (await impatient.succeed('sandbox_list')).sandboxes.map((sandbox) => sandbox.container_id);
    await until('the idle session to end', async () => !(await ids()).includes(idle.id));
    assert.deepEqual(await ids(), [busy.id]);
    assert.equal(await get(port), 'hello');
  });
});
