// One of belljar's processes is killed at a random moment, a thousand times, while another belljar must not notice.
// See README.md.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { textOf } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { Random } from './lib/random.mjs';
import { sandboxedIn } from './lib/slot.mjs';
import { killZygotesUnderLoad } from './lib/zygote_kills.mjs';
import { Table } from './lib/table.mjs';
import { makeRuntimeDirectory, Victim } from './lib/victim.mjs';

const { values: options } = parseArgs({ options: {
  count: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' }, report: { type: 'boolean', default: false },
} });
const count = Number(options.count);
const random = new Random(Number(options.seed));
const own = mkdtempSync(join(tmpdir(), 'belljar-endurance-'));
const runtime = makeRuntimeDirectory(own);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(own, { recursive: true, force: true }));

// Which signals go to which processes. `within` kills in a sandbox, which the server outlives.
const both = ({ server, launcher }) => [[launcher], [server.pid]];
const kinds = {
  'belljar': { signals: ({ server }) => [[server.pid]] },
  'the launcher': { signals: ({ server, launcher }) => [[launcher ?? server.pid]] },
  'the keeper of the launcher': { signals: ({ server, keeper }) => [[keeper ?? server.pid]] },
  'belljar, then the launcher': { signals: (victim) => both(victim).reverse() },
  'the launcher, then belljar': { signals: both },
  'belljar, while the launcher is stopped': { signals: ({ server, launcher }) => [[launcher, 'SIGSTOP'], [server.pid]] },
  'two belljars and their launchers': { signals: (victim) => [...both(victim), ...both(neighbour)], isDouble: true },
  'the init of a sandbox': { within: ({ slot }) => sandboxedIn(slot).filter(({ isInit }) => isInit) },
  'a process of a sandbox': { within: ({ slot }) => sandboxedIn(slot).filter(({ isInit, isZygote }) => !isInit && !isZygote) },
  'a zygote': { within: ({ slot }) => sandboxedIn(slot).filter(({ isZygote }) => isZygote), starts: ['fork', 'parked', 'auto'], hurtsNobody: true },
};
for (const kind of Object.values(kinds)) Object.assign(kind, { kills: 0, failures: 0, slowest: 0 });
const allStarts = ['exec', 'fork', 'parked', 'auto'];
const moments = ['started', 'initialized', 'ran', 'session', 'background', 'wrote'];

let round = 0;
const newNeighbour = () => new Victim(`the neighbour since kill ${round}`, runtime, { isBusy: false });
let neighbour = newNeighbour();
let victim;
let buried = []; // those whose names the next start must remove

const sent = []; // the last signals, for whoever reads of a failure
function send(pid, signal = 'SIGKILL') {
  if (pid === undefined) return;
  sent.push(`kill ${round}: ${signal} to ${textOf(`/proc/${pid}/comm`).trim() || 'nobody'} ${pid}`);
  if (sent.length > 8) sent.shift();
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error; // it has ended by itself
  }
}

async function goneWithin2s(kind, list) {
  const since = performance.now();
  const left = () => list().map(({ pid, name }) => `${name} ${pid}`).join(', ');
  await until('the end', () => left() === '', 2_000).catch((error) => {
    throw new Error(`${error.message}: ${left()}`);
  });
  kind.slowest = Math.max(kind.slowest, performance.now() - since);
}

// `share`, in [0, 1), chooses one of however many there are.
async function killInSandbox(kind, share) {
  const candidates = victim.slot === undefined ? [] : kind.within(victim);
  const chosen = candidates[Math.floor(share * candidates.length)];
  if (!chosen) return; // too early
  send(chosen.pid);
  kind.struck = (kind.struck ?? 0) + 1;
  await goneWithin2s(kind, () => sandboxedIn(victim.slot).filter(({ pid, group }) => (chosen.isInit ? group === chosen.group : pid === chosen.pid)));
  // A spare sandbox may be handed out that is dead, before the launcher has heard of it: that run fails, the next does not.
  const works = () => victim.checkAlive({ session: false }).then(() => true, () => false);
  if (!(await works())) await victim.checkAlive({ session: false });
}

// A server that has lost its launcher refuses to run anything, or, if it was not set up yet, to serve at all.
async function checkWithoutLauncher() {
  const { isError, text } = await within(2_000, 'an answer or the end', Promise.race([victim.server.run('1'), victim.server.exited]));
  if (victim.end ? !victim.hasGivenUp : !isError || !text.includes('launcher')) throw new Error(`a run without a launcher: ${text ?? 'it ended'}`);
}

// Copies that run go on without their zygote, and who would have become one is executed.
async function checkUnharmed() {
  await victim.reached('background');
  await victim.checkAlive();
  if (victim.error) throw victim.error;
}

async function killServers(kind) {
  const dying = kind.isDouble ? [victim, neighbour] : [victim];
  if (kind.isDouble) neighbour.remember();
  const signals = kind.signals(victim);
  for (const [pid, signal] of signals) send(pid, signal);
  if (kind.isDouble) neighbour = newNeighbour(); // while the other two are dying
  const isKilled = ({ server }) => signals.some(([pid]) => pid === server.pid);
  for (const each of dying) {
    const own = { pid: each.server.pid, name: 'belljar' };
    await goneWithin2s(kind, () => [...each.survivors(), ...(isKilled(each) && !each.end ? [own] : [])]);
  }
  if (!isKilled(victim)) await checkWithoutLauncher();
  return dying;
}

async function strike(kind, { moment, delay, share, nodeStart }) {
  const due = buried.filter((each) => !each.isUnreaped());
  victim = new Victim('the victim', runtime, { nodeStart });
  await victim.reached(moment);
  if (moments.indexOf(moment) >= moments.indexOf('ran')) checkRemoved(due); // it has set itself up
  await neighbour.reached('background');
  await sleep(delay); // this chooses the moment; nothing is waited for by time
  if (victim.end) throw new Error('it ended before it was killed');
  victim.remember();
  const dying = kind.within ? [victim] : await killServers(kind);
  if (kind.within) await killInSandbox(kind, share);
  if (kind.hurtsNobody) await checkUnharmed();
  if (!victim.end) await victim.stop();
  await goneWithin2s(kind, () => victim.survivors());
  for (const each of dying) each.checkFiles();
  buried.push(...dying);
  await neighbour.reached('background');
  await neighbour.checkAlive();
}

function checkRemoved(due) {
  const left = due.flatMap((each) => each.leftovers());
  buried = buried.filter((each) => !due.includes(each));
  if (left.length > 0) throw new Error(`not removed by the next start: ${left}`);
}

const started = performance.now();
let names = []; // still to come in this round
for (; round < count; round++) {
  if (names.length === 0) names = Object.keys(kinds);
  const [name] = names.splice(random.below(names.length), 1);
  const kind = kinds[name];
  const [moment, delay, share, which] = [random.pick(moments), random.below(51), random.next(), random.next()]; // always as many numbers: the next kill has its own
  const starts = kind.starts ?? allStarts;
  const nodeStart = starts[Math.floor(which * starts.length)];
  kind.kills++;
  try {
    await strike(kind, { moment, delay, share, nodeStart });
  } catch (error) {
    kind.failures++;
    console.log(`kill ${round}, ${name}, at "${moment}" + ${delay} ms: ${error.message.trim()}`);
    for (const line of [victim, neighbour, ...sent]) console.log(`  ${line}`);
    for (const each of [victim, neighbour]) each.destroy();
    neighbour = newNeighbour();
  }
  if ((round + 1) % 50 === 0) console.log(`${round + 1} kills, ${((performance.now() - started) / 1000).toFixed(0)} s`);
}
const seconds = (performance.now() - started) / 1000;

const table = new Table('kills', ['killed', 'times', 'failures', 'slowest end, ms']);
for (const [name, { kills, failures, slowest }] of Object.entries(kinds)) {
  if (kills > 0) table.check([name, kills, failures, slowest.toFixed(0)], failures === 0);
}
const load = await killZygotesUnderLoad({ kills: Math.max(3, Math.ceil(count / 10)), random });
for (const line of load.problems) console.log(line);
table.check([`a zygote, under load: ${load.runs} runs, ${load.failed} of them failed`, load.kills, load.problems.length, load.slowest.toFixed(0)], load.problems.length === 0);
await until('the host to reap the dead', () => !buried.some((each) => each.isUnreaped()));
const last = new Victim('the last', runtime, { isBusy: false });
await last.reached('background');
const left = buried.flatMap((each) => each.leftovers());
table.check(['names left after one more start', '', left.length, ''], left.length === 0);
for (const each of [neighbour, last]) {
  each.remember();
  await each.stop();
}
const end = { slowest: 0 };
const isClean = await goneWithin2s(end, () => [...neighbour.survivors(), ...last.survivors()]).then(() => true, () => false);
table.check(['processes left at the end', '', isClean ? 0 : 1, end.slowest.toFixed(0)], isClean);
table.finish(`${count.toLocaleString('en')} times kill -9, seed ${options.seed}, in ${seconds.toFixed(0)} s`, options.report);
