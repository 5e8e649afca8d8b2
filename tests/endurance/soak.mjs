// Clients of all kinds use `belljar serve`, over and over; what the host then has must be what it had. See README.md.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { packagesDirectory } from '../e2e/lib/belljar.mjs';
import { request, serve, tokenOf, tokens } from '../e2e/lib/http.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { Census, grown, mib } from './lib/census.mjs';
import { Random } from './lib/random.mjs';
import { actor, acts, fillSessions } from './lib/soak_clients.mjs';
import { Table } from './lib/table.mjs';

const { values: options } = parseArgs({ options: {
  minutes: { type: 'string', default: '10' }, 'in-flight': { type: 'string', default: '6' }, seed: { type: 'string', default: '1' }, report: { type: 'boolean', default: false },
} });
const milliseconds = Number(options.minutes) * 60_000;
const parallel = Number(options['in-flight']);
const random = new Random(Number(options.seed));
const numberOfLooks = Math.min(40, Math.max(8, Math.round(milliseconds / 10_000)));
const sessionsPerOwner = 256; // HttpEndpointOptions

const own = mkdtempSync(join(tmpdir(), 'belljar-endurance-'));
mkdirSync(packagesDirectory, { recursive: true });
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(own, { recursive: true, force: true }));
const ends = [];
const server = await serve({ after: (end) => ends.push(end) }, {
  toml: tokens('alice', 'bob'), args: ['--preview-listen', '127.0.0.1:0', '--audit-log', join(own, 'audit')],
  env: { TMPDIR: own, XDG_RUNTIME_DIR: own, BELLJAR_SPARE_MEMORY: '2m' }, // two spares: the pool must not grow, either
});
process.once('exit', () => server.child.kill('SIGKILL')); // if this ends early

const names = Object.keys(acts);
const done = new Map(names.map((name) => [name, 0]));
const faults = [];
let number = 0;

async function act(name) {
  const mine = number++;
  try {
    await acts[name](server, actor(mine), mine);
  } catch (fault) {
    faults.push(`${name}: ${fault.stack}`);
    if (faults.length <= 5) console.log(`act ${mine} failed: ${faults.at(-1)}`);
  }
  done.set(name, done.get(name) + 1);
}

// The given acts, and others in random order until that time.
async function actUntil(time, first = []) {
  const worker = async () => {
    while (first.length > 0 || performance.now() < time) await act(first.pop() ?? random.pick(names));
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

// What belljar itself says that it has.
async function gauges() {
  const { text } = await request(server.at('/metrics'), { headers: { authorization: `Bearer ${tokenOf('alice')}` } });
  const value = (name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)[1]);
  return {
    'sandboxes, by /metrics': value('belljar_live_sandboxes'), 'runs, by /metrics': value('belljar_runs') + value('belljar_waiting_runs'),
    'calls, by /metrics': value('belljar_calls'), 'connections, by /metrics': value('belljar_connections'),
  };
}

await fillSessions(server, sessionsPerOwner);
const started = performance.now();
await actUntil(started + milliseconds / 10, [...names]); // the launcher starts with the first, and memory is warm after some
const census = new Census(server.pid, { own, data: packagesDirectory });
const counts = async () => ({ ...(await gauges()), ...census.counts() });
await until('the launcher to come to rest', () => census.isAtRest(), 10_000);
// What is under way when nothing is: the request for this.
const none = Object.fromEntries(Object.keys(await gauges()).map((name) => [name, name.startsWith('connections') ? 1 : 0]));
const looks = [census.look(0, { ...census.counts(), ...none })];
const begin = performance.now();
while (looks.length <= numberOfLooks) {
  await actUntil(begin + (looks.length * (milliseconds - (begin - started))) / numberOfLooks);
  const now = await census.settled(looks[0].counts, counts, 10_000);
  const seconds = (performance.now() - started) / 1000;
  looks.push(census.look(seconds, now));
  const more = grown(now, looks[0].counts);
  if (more.length > 0) console.log(`after ${seconds.toFixed(0)} s: more ${more.join(', ')}`);
  if (looks.length % 5 === 1) {
    console.log(`${seconds.toFixed(0)} s, ${number} acts, RSS ${(looks.at(-1).belljar / mib).toFixed(1)} MiB, descriptors ${now['descriptors of belljar']}, ` +
      `processes ${now.processes}, control groups ${now['control groups']}, mounts ${now['mounts of the launcher']}`);
  }
}
const seconds = (performance.now() - started) / 1000;

const table = new Table('soak', ['what', 'before', 'half way', 'at the end', 'most']);
Census.tell(table, looks, ['belljar', 'launcher']);
for (const name of names) table.note([`done: ${name}`, '', '', done.get(name), '']);
table.check(['acts that went wrong', '', '', faults.length, ''], faults.length === 0);
Census.tellOfHost(table, looks);
server.child.kill('SIGTERM');
const { code } = await server.ended;
table.check(['exit status', '', '', code, ''], code === 0);
const gone = await census.isGone();
table.check(['left after the end', '', '', gone ? 0 : census.left().length, ''], gone);
for (const end of ends) await end();
table.finish(`${number.toLocaleString('en')} acts of clients over HTTP, ${parallel} at a time, seed ${options.seed}, in ${seconds.toFixed(0)} s`, options.report);
