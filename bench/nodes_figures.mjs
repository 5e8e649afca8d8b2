// How fast programs start in each way: the measurements of bench/nodes. Alternatives take turns, sample by sample.
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

import { descendants, namesIn, textOf } from '../tests/e2e/lib/proc.mjs';
import { until } from '../tests/e2e/lib/wait.mjs';
import { quantile, summary, timed } from './lib/numbers.mjs';
import { makeSpawner } from './lib/others.mjs';
import { busy, everyday, hello } from './lib/programs.mjs';
import { RawClient, telemetryOf } from './lib/raw.mjs';
import { connect } from './lib/sdk.mjs';

export const ways = ['exec', 'fork', 'auto'];
const image = `node:${process.versions.node}`; // the very Node.js that is measured bare
const refill = 100; // milliseconds in which a pool is full again, beside other servers'

// Counts how the programs of a server were started: what "auto" did must be known to judge a figure.
export class Starts {
  #counts = new Map();
  add(result) {
    const { start } = telemetryOf(result);
    this.#counts.set(start, (this.#counts.get(start) ?? 0) + 1);
  }
  toString() {
    return [...this.#counts].map(([start, count]) => `${count} ${start}`).join(', ');
  }
}

const run = (server, code, args = {}) => server.call('run_js_ephemeral', { code, image, ...args });

// A server whose programs start in that way. With "auto" that is so as soon as a copy has been parked.
export async function serverFor(way, { env = {}, args = {} } = {}) {
  const server = await RawClient.start({ BELLJAR_NODE_START: way, ...env });
  const wanted = { exec: ['exec'], fork: ['fork'], auto: ['parked-fork', 'fork'] }[way];
  await until(`programs to start by ${way}`, async () => wanted.includes(telemetryOf(await run(server, hello, args)).start), 30_000);
  return server;
}

async function serversFor(list, options) {
  return Object.fromEntries(await Promise.all(list.map(async (way) => [way, await serverFor(way, options)])));
}

// Runs each of the works in turn, `count` times after some that fill caches; { name: times }.
async function inTurn(count, works, { pause = refill, first = 3 } = {}) {
  const times = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let i = -first; i < count; i++) {
    for (const [name, work] of Object.entries(works)) {
      const { ms, value } = await timed(work);
      if (i >= 0) times[name].push(typeof value === 'number' ? value : ms); // a spawner knows better
      await sleep(pause);
    }
  }
  return times;
}

// Works that run the program bare, and once per way; `starts` has how they were started.
function alternatives(servers, code, { bare, args, starts }) {
  const works = { ...bare };
  for (const [way, server] of Object.entries(servers)) {
    starts[way] = new Starts();
    works[way] = async () => void starts[way].add(await run(server, code, args));
  }
  return works;
}

const summaries = (times) => Object.fromEntries(Object.entries(times).map(([name, list]) => [name, { ...summary(list), p99: quantile(list, 0.99) }]));

export async function measureHello({ samples, files, bun, docker }) {
  const servers = await serversFor(ways);
  const sdk = await connect({ BELLJAR_NODE_START: 'auto' });
  const spawner = makeSpawner();
  const starts = {};
  const bare = { node: () => spawner.run([process.execPath, files.hello]), ...(bun && { bun: () => spawner.run([bun, 'run', files.hello]) }) };
  const works = alternatives(servers, hello, { bare, starts });
  works['auto, with the SDK'] = async () => void (await sdk.call('run_js_ephemeral', { code: hello, image }));
  const times = await inTurn(samples, works);
  if (docker) {
    const container = ['docker', 'run', '--rm', '--network', 'none', 'node:lts-slim', 'node', '-e', hello];
    Object.assign(times, await inTurn(Math.ceil(samples / 10), { docker: () => spawner.run(container) }));
  }
  spawner.close();
  await sdk.close();
  return { ...summaries(times), starts: String(starts.auto) };
}

// Calls at fixed moments, whether or not those before have been answered.
async function steadily(server, count, interval, starts) {
  const calls = [];
  const begin = performance.now();
  for (let i = 0; i < count; i++) {
    await sleep(Math.max(0, begin + i * interval - performance.now()));
    calls.push(timed(() => run(server, hello)));
  }
  const done = await Promise.all(calls);
  for (const { value } of done) starts.add(value);
  return done.map(({ ms }) => ms);
}

// Executing Node.js is not measured: it takes more than the 20 ms of processor time that two cores have for a call.
export async function measureSteady({ quick }) {
  const found = {};
  for (const way of ['fork', 'auto']) {
    const server = await serverFor(way);
    await steadily(server, 100, 10, new Starts());
    const starts = new Starts();
    found[way] = { ...summaries({ all: await steadily(server, quick ? 300 : 2000, 10, starts) }).all, starts: String(starts) };
    await server.close();
  }
  return found;
}

const burstSize = 20;
const together = (count, work) => Promise.all(Array.from({ length: count }, (_, at) => work(at)));

export async function measureBurst({ quick, files }) {
  const servers = await serversFor(ways);
  const spawners = Array.from({ length: burstSize }, makeSpawner);
  const starts = new Starts();
  const works = { node: async () => void (await together(burstSize, (at) => spawners[at].run([process.execPath, files.hello]))) };
  for (const [way, server] of Object.entries(servers)) {
    works[way] = async () => {
      const results = await together(burstSize, () => run(server, hello));
      if (way === 'auto') for (const result of results) starts.add(result);
    };
  }
  const times = await inTurn(quick ? 3 : 10, works, { pause: 700, first: 1 });
  for (const spawner of spawners) spawner.close();
  return { ...summaries(times), starts: String(starts) };
}

const callers = 8;

// Runs per second that so many callers get who ask again as soon as they are answered.
async function rate(seconds, work) {
  const begin = performance.now();
  let done = 0;
  await together(callers, async (at) => {
    while (performance.now() - begin < seconds * 1000) {
      await work(at);
      done++;
    }
  });
  return (done / (performance.now() - begin)) * 1000;
}

export async function measureSustained({ quick, files }) {
  const servers = await serversFor(ways);
  const spawners = Array.from({ length: callers }, makeSpawner);
  const starts = {};
  const works = alternatives(servers, hello, { bare: { node: (at) => spawners[at].run([process.execPath, files.hello]) }, starts });
  const rates = Object.fromEntries(Object.keys(works).map((name) => [name, []]));
  for (let round = -1; round < (quick ? 1 : 5); round++) {
    for (const [name, work] of Object.entries(works)) {
      await sleep(1000); // the server before has its pool to fill
      const perSecond = await rate(quick || round < 0 ? 1 : 3, work);
      if (round >= 0) rates[name].push(perSecond);
    }
  }
  for (const spawner of spawners) spawner.close();
  return { ...Object.fromEntries(Object.entries(rates).map(([name, list]) => [name, quantile(list, 0.5)])), starts: String(starts.auto) };
}

export async function measureSession({ samples }) {
  const servers = await serversFor(ways);
  const works = {};
  const starts = new Starts();
  for (const [way, server] of Object.entries(servers)) {
    const container_id = (await server.call('sandbox_initialize', { image })).content[0].text;
    works[way] = async () => {
      const result = await server.call('run_js', { container_id, code: hello });
      if (way === 'auto') starts.add(result);
    };
  }
  return { ...summaries(await inTurn(samples, works)), starts: String(starts) };
}

export async function measureEveryday({ samples, files }) {
  const servers = await serversFor(ways);
  const spawner = makeSpawner();
  const starts = {};
  const bare = { node: () => spawner.run([process.execPath, files.everyday]) };
  const times = await inTurn(Math.min(samples, 100), alternatives(servers, everyday, { bare, starts }));
  spawner.close();
  return { ...summaries(times), starts: String(starts.auto) };
}

// With as many processors as bare Node.js has, and memory enough that V8 makes its heap as large.
export async function measureBusy({ quick, files }) {
  const args = { limits: { cpus: Math.min(4, availableParallelism()), memory: '4g' } };
  const servers = await serversFor(ways, { args });
  const spawner = makeSpawner();
  const starts = {};
  const bare = { node: () => spawner.run([process.execPath, files.busy]) };
  const times = await inTurn(quick ? 3 : 15, alternatives(servers, busy, { bare, args, starts }), { first: 1 });
  spawner.close();
  return { ...summaries(times), starts: String(starts.auto) };
}

const field = (text, name) => Number(new RegExp(`^${name}: +(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024;
const rollup = (pid) => textOf(`/proc/${pid}/smaps_rollup`);
const isNode = ({ pid }) => textOf(`/proc/${pid}/maps`).includes('/run/zygote.so');
// A copy is in the pid namespace of its sandbox, and the zygote in that of the launcher.
const depthOf = (pid) => (/^NSpid:(.*)$/m.exec(textOf(`/proc/${pid}/status`))?.[1] ?? '').trim().split(/\s+/).length;

function nodesOf(server) {
  const nodes = descendants(server.pid).filter(isNode);
  const least = Math.min(...nodes.map(({ pid }) => depthOf(pid)));
  return nodes.filter(({ pid }) => depthOf(pid) > least);
}

// Resolves with the parked copies of a server when there have been as many for some looks, and no program runs.
async function parkedOf(server, wanted) {
  let [last, times] = [-1, 0];
  return until(`${wanted} parked copies`, async () => {
    await sleep(50);
    const now = nodesOf(server);
    times = now.length === last ? times + 1 : 0;
    last = now.length;
    return now.length >= wanted && times >= 4 && now;
  }, 20_000);
}

// What all processes of a server have together, by the number of parked copies. The zygote's pages are shared by all of
// them, so what a copy costs is what one more adds.
async function memoryWith(spares) {
  const server = await serverFor('auto', { env: { BELLJAR_SPARE_SANDBOXES: String(spares) } });
  await together(spares, () => run(server, hello)); // a pool that follows demand has seen it
  const parked = await parkedOf(server, Math.min(spares, 2));
  const all = [server.pid, ...descendants(server.pid).map(({ pid }) => pid)];
  const total = all.reduce((sum, pid) => sum + field(rollup(pid), 'Pss'), 0);
  const each = parked.map(({ pid }) => rollup(pid));
  const privates = each.map((text) => field(text, 'Private_Clean') + field(text, 'Private_Dirty'));
  const pages = each.map((text) => field(text, 'Pss'));
  const zygotes = descendants(server.pid).filter(isNode).filter(({ pid }) => !parked.some((one) => one.pid === pid));
  const zygote = zygotes.reduce((sum, { pid }) => sum + field(rollup(pid), 'Rss'), 0);
  const threads = quantile(parked.map(({ pid }) => namesIn(`/proc/${pid}/task`).length), 1);
  await server.close();
  return { count: parked.length, total, private: quantile(privates, 0.5), pss: quantile(pages, 0.5), zygote, threads };
}

export async function measureMemory() {
  const few = await memoryWith(2);
  const many = await memoryWith(12);
  const added = many.count > few.count ? (many.total - few.total) / (many.count - few.count) : undefined;
  return { few, many, further: added ?? many.pss, private: many.private };
}

export async function measureSessions({ samples, quick }) {
  const count = quick ? 100 : 1000;
  const [few, many] = [await serverFor('auto'), await serverFor('auto', { env: { BELLJAR_MAX_SANDBOXES: '1200' } })];
  await few.call('sandbox_initialize', { image });
  for (let i = 0; i < count; i++) await many.call('sandbox_initialize', { image });
  const starts = {};
  const times = await inTurn(samples, alternatives({ few, many }, hello, { starts }));
  return { count, ...summaries(times), starts: String(starts.many) };
}

// Every number that belljar itself tells of a run, by way.
export async function measureSteps({ samples }) {
  const servers = await serversFor(ways);
  const found = Object.fromEntries(ways.map((way) => [way, {}]));
  const collect = (way, value, path) => {
    if (typeof value === 'number') (found[way][path] ??= []).push(value);
    else if (value && typeof value === 'object') for (const [name, each] of Object.entries(value)) collect(way, each, path ? `${path}.${name}` : name);
  };
  const works = Object.fromEntries(ways.map((way) => [way, async () => {
    const { ms, value } = await timed(() => run(servers[way], hello));
    collect(way, { 'the whole call': ms, ...telemetryOf(value) }, '');
  }]));
  await inTurn(samples, works);
  const names = [...new Set(ways.flatMap((way) => Object.keys(found[way])))];
  return names.map((name) => [name, ...ways.map((way) => found[way][name] && quantile(found[way][name], 0.5))]);
}
