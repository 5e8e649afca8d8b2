// A lab and a belljar in it for the tests of a file.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { after, before } from 'node:test';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { environment } from '../../e2e/lib/belljar.mjs';
import { Server } from '../../e2e/lib/stdio.mjs';
import { Lab } from './lab.mjs';

const prelude = readFileSync(new URL('outward.mjs', import.meta.url), 'utf8');
const wrapper = fileURLToPath(new URL('in_lab', import.meta.url));

// The text of a program that calls `action(data)` and prints what it returns as JSON. The function runs elsewhere: it sees
// the names of outward.mjs and of `helpers`, which is the text of more of the kind, and `data`, nothing of its test.
export const program = (action, data, helpers = '') =>
  `${prelude}\n${helpers}\nconst seen = await (${action})(${JSON.stringify(data)});\nfs.writeSync(1, JSON.stringify(seen ?? null));\nprocess.exit(0);`;

// Runs `action` on a server in a fresh sandbox, or in the session `in`: the tool's result, with what it returned in `seen`.
export async function inside(server, action, { data, helpers, in: session, ...more } = {}) {
  const code = program(action, data, helpers);
  const args = { timeoutMs: 60_000, ...more };
  const result = await (session ? server.call('run_js', { container_id: session, code, ...args }) : server.run(code, args));
  if (result.isError) throw new Error(result.text);
  return { ...result, seen: JSON.parse(result.stdout) };
}

// A sandbox that stays until the test ends.
export async function session(t, server, args = {}) {
  const result = await server.call('sandbox_initialize', args);
  if (result.isError) throw new Error(result.text);
  t.after(() => server.call('sandbox_stop', { container_id: result.text }));
  return result.text;
}

export class Bench {
  lab;
  helpers = ''; // of programs, besides outward.mjs
  server; // `internet` unless a call asks for something else, which it may

  async start() {
    this.lab = await Lab.start();
    this.server = await this.serve(null, { BELLJAR_MAX_NETWORK: 'host' });
  }

  // A belljar in the lab; it is stopped when the test `t` ends.
  async serve(t, env = {}, args = ['mcp']) {
    const server = Server.start(t, { args, env: { ...this.lab.environment(), ...env } });
    await server.initialize();
    return server;
  }

  // As the function of this name, on the server of the file. Everything in the lab's log is of this run.
  async inside(action, options) {
    await this.lab.reset();
    return inside(this.server, action, { helpers: this.helpers, ...options });
  }

  // Runs `action` on the lab's host without a sandbox: the control that shows what could be reached.
  async onHost(action, data) {
    const child = spawn(wrapper, ['--input-type=module', '-'], { env: environment(this.lab.environment(process.execPath)), stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end(program(action, data, this.helpers));
    return JSON.parse(await text(child.stdout));
  }

  async stop() {
    try {
      await this.server?.stop();
    } finally {
      this.server?.child.kill('SIGKILL'); // or node --test waits for it
      await this.lab?.stop();
    }
  }
}

// Call at the top of a test file.
export function openBench(bench = new Bench()) {
  let started;
  before(() => (started = bench.start()));
  after(async () => {
    await started; // when no test of the file was asked for, node does not wait for `before`
    await bench.stop();
  });
  return bench;
}
