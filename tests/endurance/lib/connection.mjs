// An MCP client for hundreds of thousands of calls: it keeps nothing of what is answered.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { belljar, environment } from '../../e2e/lib/belljar.mjs';

export class Connection {
  #pending = new Map();
  #nextId = 1;

  constructor(env = {}) {
    this.child = spawn(belljar, ['mcp'], { env: environment(env), stdio: ['pipe', 'pipe', 'inherit'] });
    this.pid = this.child.pid;
    this.child.stdin.on('error', () => {}); // whoever waits for an answer hears of it
    createInterface({ input: this.child.stdout }).on('line', (line) => this.#take(JSON.parse(line)));
    this.exited = new Promise((resolve) => this.child.on('close', (code, signal) => resolve({ code, signal })));
    this.exited.then(() => {
      for (const { reject } of this.#pending.values()) reject(new Error('belljar has ended'));
    });
  }

  #take(message) {
    const waiter = this.#pending.get(message.id);
    if (!waiter) return; // a notification
    this.#pending.delete(message.id);
    if (message.error) waiter.reject(new Error(message.error.message));
    else waiter.resolve(message.result);
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  request(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  async initialize() {
    await this.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'endurance', version: '1' } });
    this.#send({ method: 'notifications/initialized' });
  }

  // The first text of a call that must succeed.
  async call(name, args = {}) {
    const result = await this.request('tools/call', { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result.content[0].text;
  }

  // Runs a program in a fresh sandbox, which must succeed: what it printed, and how it was started.
  async run(code) {
    const { isError, content, structuredContent } = await this.request('tools/call', { name: 'run_js_ephemeral', arguments: { code } });
    if (isError) throw new Error(`run_js_ephemeral: ${content[0].text}`);
    return { stdout: structuredContent.stdout, start: /"start":"([\w-]+)"/.exec(content.at(-1).text)?.[1] };
  }

  async stop() {
    this.child.stdin.end();
    return this.exited;
  }
}
