// What clients over HTTP do to a server, well-behaved and otherwise. Each act is one client from beginning to end, throws if
// something is not as it must be, and leaves nothing that the server need not get rid of by itself.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createConnection } from 'node:net';

import { call, message, modern, request, rpc, tokenOf } from '../../e2e/lib/http.mjs';

const legacy = '2025-11-25';
const owners = ['alice', 'bob'];
const otherThan = (owner) => owners.find((each) => each !== owner);
const endless = "console.log('runs'); setInterval(() => {}, 1000);";
const webServer = "import http from 'node:http'; http.createServer((_, answer) => answer.end('hello')).listen(process.env.PORT);";
const never = `js-sbx-${'0'.repeat(8)}-0000-4000-8000-${'0'.repeat(12)}`;

const headersOf = (owner, more = {}) => ({
  'content-type': 'application/json', accept: 'application/json, text/event-stream', authorization: `Bearer ${tokenOf(owner)}`, ...more,
});

// An answer that is read until it matches, and may then be cut off.
function open(url, { method = 'POST', headers, body }) {
  return new Promise((resolve, reject) => {
    const sent = http.request(url, { method, headers, agent: false }, (response) => {
      let text = '';
      const waiting = new Set();
      const look = (ended) => {
        for (const waiter of waiting) if (waiter.pattern.test(text)) waiter.resolve(waiter.pattern.exec(text));
          else if (ended) waiter.reject(new Error(`no ${waiter.pattern} in ${response.statusCode} ${text}`));
      };
      response.setEncoding('utf8').on('data', (part) => {
        text += part;
        look(false);
      });
      response.on('error', () => {}); // it was cut off
      response.on('close', () => look(true));
      resolve({
        status: response.statusCode,
        until: (pattern) => new Promise((found, missing) => {
          waiting.add({ pattern, resolve: found, reject: missing });
          look(response.closed);
        }),
        cut: () => sent.destroy(),
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// A session of the legacy era.
class Session {
  #next = 1;

  static async start(server, owner) {
    const session = new Session(server, owner);
    const params = { protocolVersion: legacy, capabilities: {}, clientInfo: { name: 'soak', version: '1' } };
    const answer = await request(server.url, { method: 'POST', headers: headersOf(owner), body: session.text('initialize', params) });
    assert.equal(answer.status, 200, answer.text);
    session.headers = headersOf(owner, { 'mcp-session-id': answer.headers['mcp-session-id'], 'mcp-protocol-version': legacy });
    await session.tell('notifications/initialized');
    return session;
  }

  constructor(server, owner) {
    this.server = server;
    this.owner = owner;
  }

  text(method, params, id = this.#next++) {
    return JSON.stringify({ jsonrpc: '2.0', id, method, params });
  }

  async tell(method, params) {
    const answer = await request(this.server.url, { method: 'POST', headers: this.headers, body: JSON.stringify({ jsonrpc: '2.0', method, params }) });
    assert.equal(answer.status, 202, answer.text);
  }

  open(name, args, id) {
    return open(this.server.url, { headers: this.headers, body: this.text('tools/call', { name, arguments: args }, id) });
  }

  async call(name, args = {}) {
    const answer = await request(this.server.url, { method: 'POST', headers: this.headers, body: this.text('tools/call', { name, arguments: args }) });
    assert.equal(answer.status, 200, answer.text);
    const { result, error } = message(answer);
    assert.ok(result && !result.isError, JSON.stringify(error ?? result));
    return result;
  }

  stream(more = {}) {
    return open(this.server.url, { method: 'GET', headers: { ...this.headers, ...more } });
  }

  async end() {
    assert.equal((await request(this.server.url, { method: 'DELETE', headers: this.headers })).status, 200);
  }
}

const modernBody = (method, params) => JSON.stringify({
  jsonrpc: '2.0', id: 1, method,
  params: { ...params, _meta: { 'io.modelcontextprotocol/protocolVersion': modern, 'io.modelcontextprotocol/clientCapabilities': {}, ...params._meta } },
});

function openModern(server, owner, method, params) {
  const more = { 'mcp-protocol-version': modern, 'mcp-method': method, ...(params.name && { 'mcp-name': params.name }) };
  return open(server.url, { headers: headersOf(owner, more), body: modernBody(method, params) });
}

export const acts = {
  'a run': async (server, owner, number) => {
    const { structuredContent } = await call(server, tokenOf(owner), 'run_js_ephemeral', { code: `console.log(${number})` });
    assert.equal(structuredContent.stdout, `${number}\n`);
  },

  'a run with an error': async (server, owner) => {
    const { isError, text } = await call(server, tokenOf(owner), 'run_js_ephemeral', { code: 'missing()' });
    assert.ok(isError);
    assert.match(text, /ReferenceError/);
  },

  'lists of everything': async (server, owner) => {
    for (const method of ['tools/list', 'resources/list', 'prompts/list', 'server/discover']) {
      assert.equal((await rpc(server, tokenOf(owner), method)).status, 200, method);
    }
  },

  'a sandbox, and what somebody else makes of its id': async (server, owner, number) => {
    const token = tokenOf(owner);
    const { structuredContent: { container_id } } = await call(server, token, 'sandbox_initialize');
    const { structuredContent } = await call(server, token, 'run_js', { container_id, code: `console.log(${number})` });
    assert.equal(structuredContent.stdout, `${number}\n`);
    const theirs = tokenOf(otherThan(owner));
    const [foreign, unknown] = [await call(server, theirs, 'sandbox_stop', { container_id }), await call(server, theirs, 'sandbox_stop', { container_id: never })];
    assert.equal(foreign.text.replaceAll(container_id, never), unknown.text);
    assert.ok(!(await call(server, token, 'sandbox_stop', { container_id })).isError);
  },

  'a session': async (server, owner, number) => {
    const session = await Session.start(server, owner);
    const { structuredContent: { container_id } } = await session.call('sandbox_initialize');
    const { content } = await session.call('sandbox_exec', { container_id, commands: [`echo ${number}`] });
    assert.equal(content[0].text.trim(), String(number));
    await session.call('sandbox_stop', { container_id });
    await session.end();
  },

  // The one that has been idle for longest makes room for it.
  'a session that nobody ends': async (server, owner) => {
    await Session.start(server, owner);
  },

  'a session whose stream is cut off': async (server, owner) => {
    const session = await Session.start(server, owner);
    const stream = await session.stream();
    await stream.until(/^id: /m);
    stream.cut();
    await session.end();
  },

  'an answer that is lost and asked for again': async (server, owner, number) => {
    const session = await Session.start(server, owner);
    const lost = await session.open('run_js_ephemeral', { code: `console.log('number ${number}')` });
    const [, id] = await lost.until(/^id: (\S+)$/m);
    lost.cut();
    const resumed = await session.stream({ 'last-event-id': id });
    await resumed.until(new RegExp(`number ${number}\\\\n`));
    resumed.cut();
    await session.end();
  },

  'a run that is cancelled': async (server, owner) => {
    const session = await Session.start(server, owner);
    const running = await session.open('run_js_ephemeral', { code: endless, timeoutMs: 60_000 }, 'endless');
    await running.until(/^id: /m);
    await session.tell('notifications/cancelled', { requestId: 'endless' });
    running.cut();
    await session.end();
  },

  'a run whose session ends': async (server, owner) => {
    const session = await Session.start(server, owner);
    const running = await session.open('run_js_ephemeral', { code: endless, timeoutMs: 60_000 });
    await running.until(/^id: /m);
    await session.end();
    running.cut();
  },

  'a run whose client hangs up': async (server, owner) => {
    const params = { name: 'run_js_ephemeral', arguments: { code: endless, timeoutMs: 60_000 }, _meta: { progressToken: 'p' } };
    const running = await openModern(server, owner, 'tools/call', params);
    await running.until(/notifications\/progress/);
    running.cut();
  },

  'a subscription that is cut off': async (server, owner) => {
    const stream = await openModern(server, owner, 'subscriptions/listen', { notifications: { toolsListChanged: true } });
    await stream.until(/data: /);
    stream.cut();
  },

  'a preview': async (server, owner) => {
    const token = tokenOf(owner);
    const { structuredContent: { container_id } } = await call(server, token, 'sandbox_initialize');
    const { structuredContent } = await call(server, token, 'run_js', { container_id, code: webServer, listenOnPort: 0 });
    const welcome = await request(structuredContent.background.preview);
    const cookie = welcome.headers['set-cookie'][0].split(';')[0];
    const link = new URL(structuredContent.background.preview);
    const page = await request(`${link.origin}${link.pathname}`, { headers: { cookie } });
    assert.equal(page.text, 'hello');
    await call(server, token, 'sandbox_stop', { container_id });
  },

  'somebody without a token': async (server) => {
    assert.equal((await rpc(server, 'wrong', 'tools/list')).status, 401);
  },

  // Half a head, half a body, and what is no HTTP.
  'bytes that are no request': async (server, owner, number) => {
    const beginnings = ['POST /mcp HT', `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:${server.port}\r\nContent-Length: 100\r\nContent-Type: application/json\r\n\r\n{`, '\0\x01\x02\r\n\r\n'];
    await new Promise((resolve) => {
      const socket = createConnection({ port: server.port, host: '127.0.0.1' });
      socket.on('error', () => {}).on('close', resolve).resume();
      socket.write(beginnings[number % beginnings.length], () => socket.end());
    });
  },
};

export const actor = (number) => owners[number % owners.length];

// As many sessions as each owner may have, so that further ones take the place of others.
export async function fillSessions(server, count) {
  for (const owner of owners) for (let i = 0; i < count; i++) await Session.start(server, owner);
}
