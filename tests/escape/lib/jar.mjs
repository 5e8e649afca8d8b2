// One belljar for the tests of a file, attacked from inside, with the invariants checked around every test.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before } from 'node:test';

import { Server } from '../../e2e/lib/stdio.mjs';
import { within } from '../../e2e/lib/wait.mjs';
import { Watch } from './host.mjs';

const probe = readFileSync(process.env.ESCAPE_PROBE).toString('base64');
const prelude = `const PROBE = ${JSON.stringify(probe)};\n${readFileSync(new URL('inside.mjs', import.meta.url), 'utf8')}`;

// The text of a program that calls `attack(data)` and prints what it returns as JSON. The function runs in the
// sandbox: it sees the names of inside.mjs and `data`, nothing of its test.
export const program = (attack, data) =>
  `${prelude}\nconst seen = await (${attack})(${JSON.stringify(data)});\nfs.writeSync(1, JSON.stringify(seen ?? null));`;

export class Jar {
  server;
  watch;

  async start(options) {
    this.watch = new Watch();
    this.server = Server.start(null, options);
    await this.server.initialize();
    await this.server.run('1'); // the launcher starts with the first sandbox
    this.watch.adopt(this.server.pid);
  }

  // Runs `attack` in a fresh sandbox, or in the session `in`; what it returned.
  async inside(attack, { data, in: session, ...args } = {}) {
    const code = program(attack, data);
    const result = await (session
      ? this.server.call('run_js', { container_id: session, code, ...args })
      : this.server.run(code, args));
    if (result.isError) throw new Error(result.text);
    return JSON.parse(result.stdout);
  }

  // A sandbox that stays, and is stopped when the test ends.
  async session(t, args = {}) {
    const result = await this.server.call('sandbox_initialize', args);
    if (result.isError) throw new Error(result.text);
    t.after(() => this.server.call('sandbox_stop', { container_id: result.text }));
    return result.text;
  }

  // Runs shell commands in a session; the tool's result.
  exec(session, ...commands) {
    return this.server.call('sandbox_exec', { container_id: session, commands });
  }
}

// Call at the top of a test file.
export function openJar(options) {
  const jar = new Jar();
  before(() => jar.start(options));
  afterEach(async () => {
    await within(1_000, 'the server to answer a ping', jar.server.request('ping'));
    jar.watch.checkFiles();
  });
  after(async () => {
    try {
      if (jar.watch.slot === undefined) return; // no test of this file was asked for, and node does not wait for `before`
      await jar.watch.checkIdle();
      await jar.server.stop();
      await jar.watch.checkGone();
    } finally {
      jar.server.child.kill('SIGKILL'); // or node --test waits for it
    }
  });
  return jar;
}

// "Denied" as the attack table means it: an error that says no, or death by the filter.
export const refusals = ['EPERM', 'EACCES', 'ENOSYS', 'ENOENT', 'EROFS', 'SIGSYS'];

// Every verdict of { attempt: verdict } is one of those wanted; the error names the attempts that got another.
export function onlyThese(seen, ...wanted) {
  const others = Object.entries(seen).filter(([, verdict]) => !wanted.flat().includes(verdict));
  const some = others.slice(0, 12).map(([attempt, verdict]) => `${attempt}: ${verdict}`).join(', ');
  if (others.length > 0) assert.fail(`${others.length} of ${Object.keys(seen).length} attempts were not refused: ${some}`);
  assert.ok(Object.keys(seen).length > 0, 'something was attempted');
}
