// A belljar at work, to be killed: it makes runs without end, has a session with a process that ignores every signal
// it can, and writes files to FILES_DIR.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { marker } from '../../e2e/lib/belljar.mjs';
import { descendants, processes, processesWith } from '../../e2e/lib/proc.mjs';
import { holderOf, lockOf } from '../../e2e/lib/slots.mjs';
import { Server } from '../../e2e/lib/stdio.mjs';
import { until, within } from '../../e2e/lib/wait.mjs';
import { controlGroupsOf, isDead, keeperOf, launcherOf, sandboxedIn, slotOf } from './slot.mjs';

const kept = 'written by the host, before any sandbox\n';

export class Victim {
  word = marker(); // in the command line of every program
  #written = []; // files that a sandbox wrote and the server has said so
  #events = new Map();

  // `directory` holds what belljar keeps at run time; FILES_DIR is below it. One that is not busy has its session only.
  constructor(name, directory, { isBusy = true, nodeStart = 'exec' } = {}) {
    this.name = name; // for whoever reads of a failure
    this.runtime = directory;
    this.isBusy = isBusy;
    this.files = mkdtempSync(join(directory, 'files-'));
    writeFileSync(join(this.files, 'kept'), kept);
    this.nodeStart = nodeStart;
    const env = { FILES_DIR: this.files, XDG_RUNTIME_DIR: directory, TMPDIR: directory, BELLJAR_NODE_START: nodeStart };
    this.server = Server.start(null, { env });
    this.working = this.#work().catch((error) => (this.error = error));
  }

  #event(name) {
    if (!this.#events.has(name)) this.#events.set(name, Promise.withResolvers());
    return this.#events.get(name);
  }
  #reach(name) {
    this.#event(name).resolve();
  }
  // Resolves when the work has come that far: started, initialized, ran, session, background, wrote.
  reached(name) {
    return within(20_000, `the work to come to "${name}" (${this.error ?? 'no error'})`, this.#event(name).promise);
  }

  async #succeed(tool, args) {
    const result = await this.server.call(tool, args);
    if (result.isError) throw new Error(`${tool}: ${result.text}`);
    return result;
  }

  async #work() {
    this.#reach('started');
    await this.server.initialize();
    this.isSetUp = true;
    this.#reach('initialized');
    await this.#succeed('run_js_ephemeral', { code: `console.log(1) // ${this.word}` });
    this.#reach('ran');
    this.session = (await this.#succeed('sandbox_initialize')).text;
    this.#reach('session');
    const stubborn = `trap "" TERM HUP INT QUIT PIPE; while :; do sleep 1; done; : ${this.word}`;
    const code = `import { spawn } from 'node:child_process';
      spawn('/bin/sh', ['-c', ${JSON.stringify(stubborn)}], { detached: true, stdio: 'ignore' }); setInterval(() => {}, 1000);`;
    this.background = this.server.call('run_js', { container_id: this.session, code, timeoutMs: 600_000 });
    this.background.catch(() => {});
    await until('the background process', () => processesWith(this.word).length > 0);
    this.#reach('background');
    if (this.isBusy) await Promise.all([this.#runs(), this.#writes()]);
  }

  async #runs() {
    for (let i = 0; !this.stopping; i++) {
      const code = i % 2 ? 'setTimeout(() => {}, 10)' : `import { execSync } from 'node:child_process'; execSync(': ${this.word}; sleep 0.02')`;
      await this.#succeed('run_js_ephemeral', { code, dependencies: [] });
    }
  }

  async #writes() {
    for (let i = 0; !this.stopping; i++) {
      await this.#succeed('sandbox_exec', { container_id: this.session, commands: [`echo ${i} ${this.word} > files/${i}`] });
      this.#written.push(i);
      this.#reach('wrote');
    }
  }

  // How the server ended; undefined until its parent, which is this process, has heard of it. /proc is no witness: a
  // process that was killed looks alive there until the kernel gets round to it.
  get end() {
    const { exitCode, signalCode } = this.server.child;
    return signalCode ?? (exitCode === null ? undefined : `status ${exitCode}`);
  }

  // Whether it ended as one must that cannot get a launcher: at its start, and with words.
  get hasGivenUp() {
    return !this.isSetUp && this.end === 'status 1' && this.server.stderr.includes('the launcher has ended');
  }

  toString() {
    const numbers = `node-start ${this.nodeStart}, belljar ${this.server.pid}, launcher ${this.launcher ?? 'unknown'}, slot ${this.slot ?? 'unknown'}`;
    const work = this.error ? `; its work failed: ${this.error.message.trim()}` : '';
    const words = this.server.stderr.trim();
    return `${this.name} (${numbers}): ${this.end ? `ended, ${this.end}` : 'lives'}${work}${words && `; stderr: ${words}`}`;
  }

  // To be called before it is killed: what is there now belongs to it, and must not outlive it.
  remember() {
    this.launcher = launcherOf(this.server.pid);
    this.keeper = keeperOf(this.server.pid);
    this.slot = this.launcher && slotOf(this.launcher);
    this.descendants = descendants(this.server.pid);
  }

  #ownsSlot() {
    return this.slot !== undefined && [undefined, this.launcher].includes(holderOf(lockOf(this.slot)));
  }

  // Its living processes, told by parent, by command line, by user id and by control group.
  survivors() {
    const isKnown = ({ pid, name }) => this.descendants.some((known) => known.pid === pid && known.name === name);
    const known = processes().filter((process) => isKnown(process) && !isDead(process));
    return [...known, ...processesWith(this.word), ...(this.#ownsSlot() ? sandboxedIn(this.slot) : [])];
  }

  // Whether the host has yet to reap something of it, so that no start could remove its names.
  isUnreaped() {
    return this.descendants.some(({ pid, name }) => processes().some((process) => process.pid === pid && process.name === name));
  }

  // Names that it left, unless somebody else has taken its slot since.
  leftovers() {
    const sockets = readdirSync(this.runtime, { recursive: true }).filter((name) => name.endsWith(`/${this.server.pid}.sock`));
    return [...(this.#ownsSlot() ? controlGroupsOf(this.slot) : []), ...sockets];
  }

  // Throws unless FILES_DIR has what the host and, as far as the server has said so, the sandbox wrote; then it is removed.
  checkFiles() {
    const read = (name) => readFileSync(join(this.files, name), 'utf8');
    const names = readdirSync(this.files);
    const wrong = names.filter((name) => name !== 'kept' && !/^\d+$/.test(name)).map((name) => `${name} is new`);
    if (!names.includes('kept') || read('kept') !== kept) wrong.push('kept has changed');
    for (const i of this.#written) if (!names.includes(String(i)) || read(String(i)) !== `${i} ${this.word}\n`) wrong.push(`${i} is lost`);
    if (wrong.length > 0) throw new Error(`FILES_DIR: ${wrong}`);
    rmSync(this.files, { recursive: true });
  }

  // Throws unless the server still works: its session, if it should have one, its runs, its answers.
  async checkAlive({ session = true } = {}) {
    await within(2_000, 'an answer to ping', this.server.request('ping'));
    if (session && this.session) {
      await this.#succeed('sandbox_exec', { container_id: this.session, commands: ['true'] });
      if (processesWith(this.word).length === 0) throw new Error('its background process is gone');
    }
    await this.#succeed('run_js_ephemeral', { code: '1' });
  }

  async stop() {
    this.stopping = true;
    return this.server.stop();
  }

  // After a failed check: whatever is left of it must not disturb the next.
  destroy() {
    this.stopping = true;
    this.server.child.kill('SIGKILL'); // unlike its number, which may be another's by now
    for (const { pid } of this.descendants ? this.survivors() : []) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {} // it has ended
    }
  }
}

export function makeRuntimeDirectory(parent) {
  const directory = join(parent, 'run');
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}
