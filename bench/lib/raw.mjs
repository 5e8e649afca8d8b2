// belljar, used by a client that does next to nothing itself: what an SDK does with an answer is not belljar's time.
import { spawn } from 'node:child_process';

import { belljar, environment } from '../../tests/e2e/lib/belljar.mjs';

const telemetryTitle = 'Telemetry:\n';
const open = new Set();

export class RawClient {
  #pending = new Map();
  #nextId = 1;
  #rest = '';

  static async start(env = {}) {
    const client = new RawClient(env);
    await client.#request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
    client.#send({ method: 'notifications/initialized' });
    return client;
  }

  constructor(env) {
    this.child = spawn(belljar, ['mcp'], { env: environment(env), stdio: ['pipe', 'pipe', 'ignore'] });
    this.pid = this.child.pid;
    this.child.stdout.setEncoding('utf8').on('data', (text) => this.#take(text));
    this.child.stdin.on('error', () => {}); // whoever waits for an answer hears of it
    this.ended = new Promise((resolve) => this.child.on('close', resolve));
    this.ended.then(() => {
      for (const { reject } of this.#pending.values()) reject(new Error('belljar has ended'));
    });
    open.add(this);
  }

  #take(text) {
    const lines = (this.#rest + text).split('\n');
    this.#rest = lines.pop();
    for (const line of lines) {
      const { id, result, error } = JSON.parse(line);
      const waiter = this.#pending.get(id);
      this.#pending.delete(id);
      if (error) waiter?.reject(new Error(error.message));
      else waiter?.resolve(result);
    }
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }

  #request(method, params) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#pending.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  // The result of a call that must succeed.
  async call(name, args = {}) {
    const result = await this.#request('tools/call', { name, arguments: args });
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result;
  }

  close() {
    open.delete(this);
    this.child.stdin.end();
    return this.ended;
  }
}

// What belljar says of a run, in numbers, and how it was started.
export function telemetryOf({ content }) {
  const block = content.find(({ text }) => text?.startsWith(telemetryTitle));
  return JSON.parse(block.text.slice(telemetryTitle.length));
}

// Ends the servers that a part of a benchmark has left.
export async function closeAll() {
  for (const client of open) await client.close();
}
