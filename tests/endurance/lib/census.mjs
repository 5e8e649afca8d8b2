// What a server has on this host, counted, and how that changes.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { descendants, memory, mounts } from '../../e2e/lib/proc.mjs';
import { holderOf, lockOf } from '../../e2e/lib/slots.mjs';
import { until } from '../../e2e/lib/wait.mjs';
import { controlGroupsOf, descriptorsOf, launcherOf, mountsOf, networksOf, sandboxedIn, slotOf } from './slot.mjs';

export const mib = 2 ** 20;

const files = (path) => readdirSync(path, { recursive: true }).length;
const unpacked = (entry) => entry.isDirectory() && entry.parentPath.endsWith('/runtimes'); // thousands, and never written to
const filesBeneath = (path) =>
  readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => sum + 1 + (entry.isDirectory() && !unpacked(entry) ? filesBeneath(join(path, entry.name)) : 0), 0);
// Other tests may run at the same time; their directories have six random characters at the end.
const strays = () => readdirSync('/tmp').filter((name) => name.startsWith('belljar') && !/^belljar-[a-z0-9-]+-\w{6}$/.test(name)).length;
const kernelGroups = () => Number(/^memory\t\d+\t(\d+)/m.exec(readFileSync('/proc/cgroups', 'utf8'))?.[1] ?? 0);
const slab = () => Number(/^Slab: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) / 1024;

export const grown = (now, before) => Object.keys(before).filter((name) => now[name] > before[name]);

// Least squares over the last half of the looks: how much more it is at the end of it than at its beginning.
export function growth(looks, name) {
  const half = looks.slice(Math.floor(looks.length / 2));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((look) => look[name]))];
  const slope = mean(half.map((look) => (look.at - x) * (look[name] - y))) / mean(half.map(({ at }) => (at - x) ** 2));
  return slope * (half.at(-1).at - half[0].at);
}

// Of a server whose launcher runs. `own` is its temporary and run directory, `data` where it keeps packages; `isParking`
// says that a copy waits in each spare sandbox.
export class Census {
  constructor(server, { own, data, isParking = false }) {
    this.server = server;
    this.own = own;
    this.data = data;
    this.isParking = isParking;
    this.launcher = launcherOf(server);
    this.slot = slotOf(this.launcher);
  }

  // What must not grow by a single one.
  counts() {
    const sandboxed = sandboxedIn(this.slot);
    return {
      processes: new Set([...descendants(this.server), ...sandboxed].map(({ pid }) => pid)).size,
      'mounts of the host': mounts(),
      'mounts of the launcher': mountsOf(this.launcher),
      'control groups': controlGroupsOf(this.slot).length,
      'network namespaces': networksOf([this.server, this.launcher, ...sandboxed.map(({ pid }) => pid)]),
      'descriptors of belljar': descriptorsOf(this.server),
      'descriptors of the launcher': descriptorsOf(this.launcher),
      'descriptors of zygotes': sandboxed.filter(({ isZygote }) => isZygote).reduce((sum, { pid }) => sum + descriptorsOf(pid), 0),
      'files in TMPDIR and the run directory': files(this.own),
      'files in /tmp': strays(),
      'files in the data directory': filesBeneath(this.data),
    };
  }

  // Spare sandboxes are made and stopped ones removed after the last answer. At rest there is the launcher with its
  // keeper, an init per spare sandbox, zygotes, and a parked copy per spare sandbox where copies are parked.
  isAtRest() {
    const sandboxed = sandboxedIn(this.slot);
    const lasting = sandboxed.filter(({ isInit, isZygote }) => isInit || isZygote).map(({ pid }) => pid);
    const others = descendants(this.server).filter(({ pid, name }) => pid !== this.launcher && name !== 'belljar-keeper' && !lasting.includes(pid));
    const groups = sandboxed.filter(({ pid }) => others.some((each) => each.pid === pid)).map(({ group }) => group);
    const isParked = groups.length === others.length && new Set(groups).size === sandboxed.filter(({ isInit }) => isInit).length;
    return this.isParking ? isParked : others.length === 0;
  }

  // A row of the story: everything as of `at`.
  look(at, counts) {
    const zygotes = sandboxedIn(this.slot).filter(({ isZygote }) => isZygote);
    return {
      at, counts, belljar: memory(this.server, 'VmRSS'), launcher: memory(this.launcher, 'VmRSS'),
      zygotes: zygotes.reduce((sum, { pid }) => sum + (memory(pid, 'VmRSS') ?? 0), 0), slab: slab(), groups: kernelGroups(),
    };
  }

  // What there is once nothing is more than before, or after some seconds in vain.
  async settled(before, counts = () => this.counts(), ms = 3_000) {
    const wanted = async () => {
      const now = await counts();
      return grown(now, before).length === 0 && now;
    };
    return until('nothing to be left', wanted, ms).catch(counts);
  }

  left() {
    return [...sandboxedIn(this.slot).map(({ name }) => name), ...controlGroupsOf(this.slot)];
  }

  // After the end of the server: whether everything of it is gone.
  async isGone() {
    const isGone = () => ![undefined, this.launcher].includes(holderOf(lockOf(this.slot))) || this.left().length === 0; // somebody else's by now
    return until('everything to be gone', isGone, 3_000).catch(() => false);
  }

  // Rows for a table: what may not grow, what must be flat (so many bytes of growth are allowed), what there is to see.
  static tell(table, looks, names, allowed = mib) {
    const middle = looks[Math.floor(looks.length / 2)];
    for (const name of Object.keys(looks[0].counts)) {
      const seen = looks.map(({ counts }) => counts[name]);
      table.check([name, seen[0], middle.counts[name], seen.at(-1), Math.max(...seen)], seen.at(-1) <= seen[0]);
    }
    for (const name of names) {
      const seen = looks.map((look) => look[name] / mib);
      const more = growth(looks, name) / mib;
      table.check([`RSS of ${name}, MiB (${more >= 0 ? '+' : ''}${more.toFixed(2)} over the last half)`,
        ...[seen[0], middle[name] / mib, seen.at(-1), Math.max(...seen)].map((value) => value.toFixed(1))], more < allowed / mib);
    }
  }

  static tellOfHost(table, looks) {
    const figures = (name) => [looks[0], looks[Math.floor(looks.length / 2)], looks.at(-1)].map((look) => look[name].toFixed(0));
    table.note(['kernel slab of the whole host, MiB', ...figures('slab'), '']);
    table.note(['memory cgroups of the whole host, with dying ones', ...figures('groups'), '']);
  }
}
