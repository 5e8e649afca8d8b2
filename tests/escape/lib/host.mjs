// The invariants, seen from the host: whatever a sandbox tries, these hold while it lives and after it is gone.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { belljar } from '../../e2e/lib/belljar.mjs';
import { ownDirectory, user } from '../../e2e/lib/directories.mjs';
import { cgroupMounts, descendants, pids, textOf } from '../../e2e/lib/proc.mjs';
import { cgroupRootsOf, holderOf, openLocks, roleIn } from '../../e2e/lib/slots.mjs';
import { until } from '../../e2e/lib/wait.mjs';
import { isUsers } from './applies.mjs';

export const sha256 = (path) => createHash('sha256').update(readFileSync(path)).digest('hex');

// The home of whom belljar runs as, and where it keeps its data.
export const home = process.env.BELLJAR_ROOTLESS_HOME ?? homedir();
export const dataDirectory = process.env.BELLJAR_DATA_DIR ?? join(process.env.XDG_DATA_HOME ?? `${process.env.HOME}/.local/share`, 'belljar');
// The Node.js that sandboxes of the default image run, as a file of the host.
export const hostNode = (version) => join(dataDirectory, 'runtimes', version.replace(/^v/, ''), 'bin/node');

// tests/rootless/run: belljar is a user's, who has nothing else running, and perhaps this range of ids.
const subordinate = { first: 700_000, count: 65536 };
// Without those that end-to-end tests make (lib/directories.mjs), which may run at the same time.
const mounts = () => new Set(textOf('/proc/self/mountinfo').trim().split('\n').filter((line) => !line.split(' ')[4].startsWith(join(tmpdir(), 'belljar-e2e-'))));
const modules = () => textOf('/proc/modules').split('\n').map((line) => line.split(' ')[0]).sort().join(' ');
const interfaces = () => readdirSync('/sys/class/net').sort().join(' ');

// Files of the base layer, as the kernel has them in its cache, from where all sandboxes read them. Of a large one the
// beginning, which is what gets executed first; NS12 compares all of Node.js.
function baseLayer() {
  const files = ['/usr/bin/env', '/usr/bin/dash', '/usr/bin/perl', '/usr/lib/os-release', process.execPath];
  const beginning = Buffer.alloc(4 << 20);
  return files.filter((path) => existsSync(path)).map((path) => {
    const file = openSync(path);
    const bytes = beginning.subarray(0, readSync(file, beginning));
    closeSync(file);
    return `${path} ${createHash('sha256').update(bytes).digest('hex')}`;
  }).join('\n');
}
// How often the kernel has complained; undefined where its log is not for us.
function complaints() {
  const { status, stdout } = spawnSync('dmesg', { encoding: 'utf8', maxBuffer: 1 << 26 });
  return status === 0 ? stdout.split('\n').filter((line) => /\bBUG: |WARNING: CPU|Oops: |KASAN|general protection fault, /.test(line)) : undefined;
}

// Everything that a sandbox must not change is remembered when this is made.
export class Watch {
  constructor() {
    this.directory = ownDirectory('belljar-canary-'); // nothing but the sandbox keeps belljar's user from it
    process.once('exit', () => rmSync(this.directory, { recursive: true, force: true }));
    this.canary = join(this.directory, 'canary');
    this.secret = `canary-${randomUUID()}`;
    writeFileSync(this.canary, this.secret, { mode: 0o644 });
    const long = new Date(Date.now() - 3_600_000);
    utimesSync(this.canary, long, new Date()); // with relatime the next read moves the access time
    this.atime = statSync(this.canary).atimeMs;
    this.files = ['/etc/passwd', '/etc/hosts', belljar, join(dirname(belljar), 'belljar-launcher')];
    this.before = this.#state();
    this.mounts = mounts();
    this.baseLayer = baseLayer();
    this.complaints = complaints();
  }

  #state() {
    const sums = this.files.map((path) => `${path} ${sha256(path)} ${statSync(path).ctimeMs}`);
    return [...sums, `modules: ${modules()}`, `interfaces: ${interfaces()}`].join('\n');
  }

  // Learns which launcher, and so which cgroups and user ids, belong to the server under test.
  adopt(pid) {
    this.server = pid;
    this.launcher = descendants(pid).find(({ name }) => name.startsWith('belljar-launch')).pid;
    ({ lock: this.lock, slot: this.slot } = openLocks(this.launcher)[0] ?? {});
    assert.notEqual(this.slot, undefined, 'the launcher holds a slot');
    // A user's groups are beside that of the launcher, if the user has been given any.
    this.delegated = !isUsers ? undefined : /^0::(.*)\/belljar-self$/m.exec(textOf(`/proc/${this.launcher}/cgroup`))?.[1];
  }

  // Our launcher is gone and another one, of somebody else, has taken its slot: what is there is not ours.
  isTakenByOthers() {
    const holder = holderOf(this.lock);
    return holder !== undefined && holder !== this.launcher;
  }

  // Living processes with the ids of our sandboxes, whoever their parent is: { inits, programs }.
  sandboxed() {
    const found = { inits: [], programs: [] };
    for (const pid of pids()) {
      const status = textOf(`/proc/${pid}/status`);
      const kind = /^State:\t[^ZX]/m.test(status) && this.#kind(status);
      if (kind) found[kind].push(`${pid} ${textOf(`/proc/${pid}/comm`).trim()}`);
    }
    return found;
  }

  #kind(status) {
    const uid = Number(/^Uid:\t(\d+)/m.exec(status)[1]);
    if (!isUsers) return { init: 'inits', program: 'programs' }[roleIn(this.slot, uid)];
    if (uid !== user && (uid < subordinate.first || uid >= subordinate.first + subordinate.count)) return undefined;
    // Its numbers from the host's pid namespace down: ours are in the launcher's, sandboxes one below.
    const numbers = /^NSpid:\t(.*)$/m.exec(status)[1].split('\t');
    if (numbers.length < 3) return undefined;
    return numbers.at(-1) === '1' ? 'inits' : 'programs';
  }

  hasSandboxes() {
    const { inits, programs } = this.sandboxed();
    return !this.isTakenByOthers() && inits.length + programs.length > 0;
  }

  cgroups() {
    if (!isUsers) return cgroupRootsOf(this.slot);
    const paths = this.delegated === undefined ? [] : cgroupMounts.map((mount) => `${mount}${this.delegated}/belljar/${this.slot}`);
    return paths.filter((path) => existsSync(path));
  }

  // What is there for the next start to remove if nobody could tidy up.
  left() {
    return [...this.cgroups(), this.lock].filter((path) => existsSync(path));
  }

  checkFiles() {
    try {
      assert.equal(statSync(this.canary).atimeMs, this.atime, 'nobody has read the canary');
      assert.equal(readFileSync(this.canary, 'utf8'), this.secret, 'the canary is unchanged');
      assert.equal(this.#state(), this.before, 'host files, modules and interfaces are unchanged');
      const added = [...mounts()].filter((line) => !this.mounts.has(line));
      assert.deepEqual(added, [], 'no mount of a sandbox is visible on the host');
    } finally {
      utimesSync(this.canary, new Date(this.atime), new Date()); // we have read it ourselves
    }
  }

  // With no session open: no program runs, and every sandbox that is still there is one kept in reserve.
  async checkIdle() {
    await until('the programs of all sandboxes to end', () => this.sandboxed().programs.length === 0, 3_000);
    await until('the sandboxes to be removed', () => {
      const kept = this.sandboxed().inits.length;
      return this.cgroups().every((path) => readdirSync(path).filter((name) => /^s\d+$/.test(name)).length <= kept);
    }, 3_000);
  }

  // The server has ended, however it did.
  async checkGone() {
    assert.equal(baseLayer(), this.baseLayer, 'the base layer has the same content as before');
    assert.deepEqual(complaints()?.filter((line) => !this.complaints?.includes(line)) ?? [], [], 'the kernel has not complained');
    await until('the launcher to end', () => !textOf(`/proc/${this.launcher}/cmdline`), 3_000);
    await until('all sandboxed processes to end', () => !this.hasSandboxes(), 3_000);
    await until('the cgroups to be removed', () => this.isTakenByOthers() || this.cgroups().length === 0, 3_000);
  }
}
