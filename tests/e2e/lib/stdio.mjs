// A small MCP client that sends and receives raw lines, for what well-behaved clients never do.
import { spawn } from 'node:child_process';

import { belljar, environment } from './belljar.mjs';
import { within } from './wait.mjs';

const prefix = 'io.modelcontextprotocol/';
export const modernVersion = '2026-07-28';
export const legacyVersions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];
export const meta = (extra = {}) => ({
  [`${prefix}protocolVersion`]: modernVersion,
  [`${prefix}clientCapabilities`]: {},
  [`${prefix}clientInfo`]: { name: 'e2e', version: '1' },
  ...extra,
});

export class Server {
  // Starts `belljar mcp`; it is stopped when the test `t` ends.
  static start(t, { args = ['mcp'], env = {} } = {}) {
    const server = new Server(spawn(belljar, args, { env: environment(env), stdio: ['pipe', 'pipe', 'pipe'] }));
    t?.after(() => server.stop());
    return server;
  }

  constructor(child) {
    this.child = child;
    this.pid = child.pid;
    this.stderr = '';
    this.received = []; // every message, in order
    this.waiting = new Set();
    this.nextId = 1;
    let parts = []; // of a line; joined once, for a line may have 30 MB
    child.stdout.setEncoding('utf8');
    child.stdout.on('data', (text) => {
      const [rest, ...lines] = text.split('\n');
      parts.push(rest);
      for (const line of lines) {
        this.#take(parts.join(''));
        parts = [line];
      }
    });
    child.stderr.setEncoding('utf8');
    child.stderr.on('data', (text) => (this.stderr += text));
    child.stdin.on('error', () => {}); // tests end the server on purpose
    this.exited = new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal })));
    this.exited.then(({ code, signal }) => {
      for (const { reject } of this.waiting) reject(new Error(`belljar ended (process ${this.pid}, ${signal ?? `status ${code}`}). stderr:\n${this.stderr}`));
    });
  }

  #take(line) {
    const message = JSON.parse(line); // stdout carries messages and nothing else
    this.received.push(message);
    for (const waiter of this.waiting) if (waiter.wanted(message)) waiter.resolve(message);
  }

  sendRaw(bytes) {
    this.child.stdin.write(bytes);
  }

  send(message) {
    this.sendRaw(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  // The first message, past or future, that `wanted` accepts.
  next(what, wanted, ms = 60_000) {
    const past = this.received.find(wanted);
    if (past) return Promise.resolve(past);
    let waiter;
    const future = new Promise((resolve, reject) => {
      waiter = { wanted, resolve, reject };
      this.waiting.add(waiter);
    });
    return within(ms, what, future).finally(() => this.waiting.delete(waiter));
  }

  answer(id, ms) {
    return this.next(`the answer to ${id}`, (message) => message.id === id && !('method' in message), ms);
  }

  // Sends a request and returns its whole response message.
  request(method, params, id = this.nextId++) {
    this.send({ id, method, ...(params && { params }) });
    return this.answer(id);
  }

  notify(method, params) {
    this.send({ method, ...(params && { params }) });
  }

  async initialize(protocolVersion = '2025-11-25') {
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'e2e', version: '1' } };
    const response = await this.request('initialize', params, `initialize-${this.nextId++}`);
    this.notify('notifications/initialized');
    return response;
  }

  // Calls a tool; its result, with the text blocks as one string in `text`.
  async call(name, args = {}, extra = {}) {
    const { result, error } = await this.request('tools/call', { name, arguments: args, ...extra });
    if (error) throw Object.assign(new Error(error.message), error);
    const text = result.content.filter((block) => block.type === 'text').map((block) => block.text);
    return { ...result, text: text.join('\n'), ...result.structuredContent };
  }

  // Runs a program in a fresh sandbox.
  run(code, args = {}) {
    return this.call('run_js_ephemeral', { code, ...args });
  }

  // Runs a program that prints one JSON value; that value.
  async evaluate(code, args = {}) {
    const result = await this.run(code, args);
    if (result.isError) throw new Error(result.text);
    return JSON.parse(result.stdout);
  }

  // Ends the server as clients do, by closing its stdin.
  async stop() {
    this.child.stdin.end();
    try {
      const end = await within(5_000, 'belljar to end after its stdin was closed', this.exited);
      // A finding in the last moments of a program fails no request.
      if (/\w+Sanitizer: |: runtime error: /.test(this.stderr)) throw new Error(this.stderr);
      return end;
    } catch (error) {
      this.child.kill('SIGKILL');
      throw error;
    }
  }
}
