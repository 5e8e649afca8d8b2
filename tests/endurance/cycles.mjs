// Sandboxes are made, used and stopped, over and over; what the host then has must be what it had. See README.md.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { descendants, memory, mounts } from '../e2e/lib/proc.mjs';
import { holderOf, lockOf } from '../e2e/lib/slots.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { Connection } from './lib/connection.mjs';
import { controlGroupsOf, descriptorsOf, launcherOf, mountsOf, networksOf, sandboxedIn, slotOf } from './lib/slot.mjs';
import { Table } from './lib/table.mjs';

const { values: options } = parseArgs({ options: {
  count: { type: 'string', default: '100000' }, report: { type: 'boolean', default: false }, 'in-flight': { type: 'string', default: '4' },
  runs: { type: 'boolean', default: false }, 'node-start': { type: 'string', default: 'exec' },
} });
const count = Number(options.count);
const parallel = Number(options['in-flight']);
const pause = Math.max(10, Math.round(count / 100)); // cycles between two looks
const mib = 2 ** 20;
const nodeStart = options['node-start'];
const starts = { exec: ['exec'], fork: ['fork'], parked: ['parked-fork'], auto: ['parked-fork', 'fork', 'exec'] }[nodeStart];
if (!starts) throw new Error(`--node-start is exec, fork, parked or auto, not ${nodeStart}`);

const own = mkdtempSync(join(tmpdir(), 'belljar-endurance-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(own, { recursive: true, force: true }));
const data = process.env.BELLJAR_DATA_DIR ?? join(process.env.XDG_DATA_HOME ?? `${process.env.HOME}/.local/share`, 'belljar');
// Two spares, however many were wanted at once: the pool must not grow, either.
const spareMemory = ['parked', 'auto'].includes(nodeStart) ? '8m' : '2m';
const server = new Connection({ TMPDIR: own, XDG_RUNTIME_DIR: own, BELLJAR_NODE_START: nodeStart, BELLJAR_SPARE_MEMORY: spareMemory });
process.once('exit', () => server.child.kill('SIGKILL')); // if this ends early

const startedBy = new Map(); // how many programs, by the way in which they were started

async function cycle(number) {
  if (options.runs || number % 100 === 99) {
    const { stdout, start } = await server.run(`console.log(${number})`);
    if (stdout !== `${number}\n`) throw new Error(`wrong output: ${stdout}`);
    startedBy.set(start, (startedBy.get(start) ?? 0) + 1);
    return;
  }
  const container_id = await server.call('sandbox_initialize');
  const text = await server.call('sandbox_exec', { container_id, commands: [`echo ${number}`] });
  if (text.trim() !== String(number)) throw new Error(`wrong output: ${text}`);
  await server.call('sandbox_stop', { container_id });
}

async function cycles(from, to) {
  let next = from;
  const worker = async () => {
    while (next < to) await cycle(next++);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

const files = (path) => readdirSync(path, { recursive: true }).length;
const unpacked = (entry) => entry.isDirectory() && entry.parentPath.endsWith('/runtimes'); // thousands, and never written to
const dataFiles = (path = data) =>
  readdirSync(path, { withFileTypes: true }).reduce((sum, entry) => sum + 1 + (entry.isDirectory() && !unpacked(entry) ? dataFiles(join(path, entry.name)) : 0), 0);
// Other tests may run at the same time; their directories have six random characters at the end.
const strays = () => readdirSync('/tmp').filter((name) => name.startsWith('belljar') && !/^belljar-[a-z0-9-]+-\w{6}$/.test(name)).length;
const kernelGroups = () => Number(/^memory\t\d+\t(\d+)/m.exec(readFileSync('/proc/cgroups', 'utf8'))?.[1] ?? 0);
const slab = () => Number(/^Slab: +(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))[1]) / 1024;

let launcher;
let slot;

// What must not grow by a single one.
function census() {
  const sandboxed = sandboxedIn(slot);
  return {
    processes: new Set([...descendants(server.pid), ...sandboxed].map(({ pid }) => pid)).size,
    'mounts of the host': mounts(),
    'mounts of the launcher': mountsOf(launcher),
    'control groups': controlGroupsOf(slot).length,
    'network namespaces': networksOf([server.pid, launcher, ...sandboxed.map(({ pid }) => pid)]),
    'descriptors of belljar': descriptorsOf(server.pid),
    'descriptors of the launcher': descriptorsOf(launcher),
    'descriptors of zygotes': sandboxed.filter(({ isZygote }) => isZygote).reduce((sum, { pid }) => sum + descriptorsOf(pid), 0),
    'files in TMPDIR and the run directory': files(own),
    'files in /tmp': strays(),
    'files in the data directory': dataFiles(),
  };
}
const grown = (now, before) => Object.keys(before).filter((name) => now[name] > before[name]);

// Spare sandboxes are made and stopped ones removed after the last answer. At rest there is the launcher with its
// keeper, an init per spare sandbox, zygotes, and a parked copy per spare sandbox where copies are parked.
function isAtRest() {
  const sandboxed = sandboxedIn(slot);
  const lasting = sandboxed.filter(({ isInit, isZygote }) => isInit || isZygote).map(({ pid }) => pid);
  const others = descendants(server.pid).filter(({ pid, name }) => pid !== launcher && name !== 'belljar-keeper' && !lasting.includes(pid));
  const groups = sandboxed.filter(({ pid }) => others.some((each) => each.pid === pid)).map(({ group }) => group);
  const isParked = groups.length === others.length && new Set(groups).size === sandboxed.filter(({ isInit }) => isInit).length;
  return ['parked', 'auto'].includes(nodeStart) ? isParked : others.length === 0;
}
const zygotes = () => sandboxedIn(slot).filter(({ isZygote }) => isZygote);
const zygoteMemory = () => zygotes().reduce((sum, { pid }) => sum + (memory(pid, 'VmRSS') ?? 0), 0);
const look = (at, counts) => ({ at, counts, belljar: memory(server.pid, 'VmRSS'), launcher: memory(launcher, 'VmRSS'), zygotes: zygoteMemory(), slab: slab(), groups: kernelGroups() });
async function settled(before) {
  const wanted = () => {
    const now = census();
    return grown(now, before).length === 0 && now;
  };
  return until('nothing to be left', wanted, 3_000).catch(() => census());
}

await server.initialize();
await cycles(0, Math.max(100, pause)); // the launcher starts with the first, and memory is warm after some
launcher = launcherOf(server.pid);
slot = slotOf(launcher);
await until('the launcher to come to rest', isAtRest, 3_000);
const looks = [look(0, census())];
startedBy.clear(); // the first ones may have been before there was a zygote
const started = performance.now();
for (let done = 0; done < count;) {
  const to = Math.min(count, done + pause);
  await cycles(done, to);
  done = to;
  const counts = await settled(looks[0].counts);
  looks.push(look(done, counts));
  const more = grown(counts, looks[0].counts);
  if (more.length > 0) console.log(`after ${done}: more ${more.join(', ')}`);
  if (looks.length % 10 === 1) console.log(`${done} cycles, ${((performance.now() - started) / 1000).toFixed(0)} s, RSS ${(looks.at(-1).belljar / mib).toFixed(1)} MiB`);
}
const seconds = (performance.now() - started) / 1000;

// Least squares over the last half: how much more it is at the end of it than at its beginning.
function growth(name) {
  const half = looks.slice(Math.floor(looks.length / 2));
  const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [x, y] = [mean(half.map(({ at }) => at)), mean(half.map((look) => look[name]))];
  const slope = mean(half.map((look) => (look.at - x) * (look[name] - y))) / mean(half.map(({ at }) => (at - x) ** 2));
  return slope * (half.at(-1).at - half[0].at);
}

const kind = options.runs ? `runs, ${nodeStart}` : nodeStart === 'exec' ? 'cycles' : `cycles, ${nodeStart}`;
const table = new Table(kind, ['what', 'before', 'half way', 'at the end', 'most']);
const middle = looks[Math.floor(looks.length / 2)];
for (const name of Object.keys(looks[0].counts)) {
  const seen = looks.map(({ counts }) => counts[name]);
  table.check([name, seen[0], middle.counts[name], seen.at(-1), Math.max(...seen)], seen.at(-1) <= seen[0]);
}
for (const name of ['belljar', 'launcher', 'zygotes']) {
  const seen = looks.map((look) => look[name] / mib);
  const more = growth(name) / mib;
  table.check([`RSS of ${name}, MiB (${more >= 0 ? '+' : ''}${more.toFixed(2)} over the last half)`,
    ...[seen[0], middle[name] / mib, seen.at(-1), Math.max(...seen)].map((value) => value.toFixed(1))], more < 1);
}
const otherwise = [...startedBy].filter(([start]) => !starts.includes(start)).reduce((sum, [, times]) => sum + times, 0);
table.check([`programs started otherwise (${[...startedBy].map(([start, times]) => `${times} by ${start}`).join(', ')})`, '', '', otherwise, ''], otherwise === 0);
const figures = (name, digits) => [looks[0], middle, looks.at(-1)].map((look) => look[name].toFixed(digits));
table.note(['kernel slab of the whole host, MiB', ...figures('slab', 0), '']);
table.note(['memory cgroups of the whole host, with dying ones', ...figures('groups', 0), '']);

await server.stop();
const left = () => [...sandboxedIn(slot).map(({ name }) => name), ...controlGroupsOf(slot)];
const isGone = () => ![undefined, launcher].includes(holderOf(lockOf(slot))) || left().length === 0; // somebody else's by now
const gone = await until('everything to be gone', isGone, 3_000).catch(() => false);
table.check(['left after the end', '', '', gone ? 0 : left().length, ''], gone);
const what = `${options.runs ? 'runs, each in a sandbox of its own' : 'cycles of create, run and stop'}, ${parallel} at a time, node-start ${nodeStart}`;
table.finish(`${count.toLocaleString('en')} ${what}, in ${seconds.toFixed(0)} s (${((seconds * 1000) / count).toFixed(2)} ms each)`, options.report);
