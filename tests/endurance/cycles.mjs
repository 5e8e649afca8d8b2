// Sandboxes are made, used and stopped, over and over; what the host then has must be what it had. See README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { until } from '../e2e/lib/wait.mjs';
import { Census, grown, mib } from './lib/census.mjs';
import { Connection } from './lib/connection.mjs';
import { Table } from './lib/table.mjs';

const { values: options } = parseArgs({ options: {
  count: { type: 'string', default: '100000' }, report: { type: 'boolean', default: false }, 'in-flight': { type: 'string', default: '4' },
  runs: { type: 'boolean', default: false }, 'node-start': { type: 'string', default: 'exec' },
} });
const count = Number(options.count);
const parallel = Number(options['in-flight']);
const pause = Math.max(10, Math.round(count / 100)); // cycles between two looks
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

await server.initialize();
await cycles(0, Math.max(100, pause)); // the launcher starts with the first, and memory is warm after some
const census = new Census(server.pid, { own, data, isParking: ['parked', 'auto'].includes(nodeStart) });
await until('the launcher to come to rest', () => census.isAtRest(), 3_000);
const looks = [census.look(0, census.counts())];
startedBy.clear(); // the first ones may have been before there was a zygote
const started = performance.now();
for (let done = 0; done < count;) {
  const to = Math.min(count, done + pause);
  await cycles(done, to);
  done = to;
  const counts = await census.settled(looks[0].counts);
  looks.push(census.look(done, counts));
  const more = grown(counts, looks[0].counts);
  if (more.length > 0) console.log(`after ${done}: more ${more.join(', ')}`);
  if (looks.length % 10 === 1) console.log(`${done} cycles, ${((performance.now() - started) / 1000).toFixed(0)} s, RSS ${(looks.at(-1).belljar / mib).toFixed(1)} MiB`);
}
const seconds = (performance.now() - started) / 1000;

const kind = options.runs ? `runs, ${nodeStart}` : nodeStart === 'exec' ? 'cycles' : `cycles, ${nodeStart}`;
const table = new Table(kind, ['what', 'before', 'half way', 'at the end', 'most']);
Census.tell(table, looks, ['belljar', 'launcher', 'zygotes']);
const otherwise = [...startedBy].filter(([start]) => !starts.includes(start)).reduce((sum, [, times]) => sum + times, 0);
table.check([`programs started otherwise (${[...startedBy].map(([start, times]) => `${times} by ${start}`).join(', ')})`, '', '', otherwise, ''], otherwise === 0);
Census.tellOfHost(table, looks);

await server.stop();
const gone = await census.isGone();
table.check(['left after the end', '', '', gone ? 0 : census.left().length, ''], gone);
const what = `${options.runs ? 'runs, each in a sandbox of its own' : 'cycles of create, run and stop'}, ${parallel} at a time, node-start ${nodeStart}`;
table.finish(`${count.toLocaleString('en')} ${what}, in ${seconds.toFixed(0)} s (${((seconds * 1000) / count).toFixed(2)} ms each)`, options.report);
