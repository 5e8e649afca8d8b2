// The table of how fast programs start, by way. See bench/nodes.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { number, tableOf } from './lib/numbers.mjs';
import { bunPath, dockerAnswers } from './lib/others.mjs';
import { busy, everyday, hello } from './lib/programs.mjs';
import { closeAll } from './lib/raw.mjs';
import { closeAll as closeSdk } from './lib/sdk.mjs';
import * as measure from './nodes_figures.mjs';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false }, only: { type: 'string', default: '' }, json: { type: 'string' } } });
const samples = options.quick ? 20 : 200;

const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
const files = {};
for (const [name, code] of Object.entries({ hello, everyday, busy })) writeFileSync((files[name] = join(directory, `${name}.mjs`)), code);

const figures = {
  machine: { cpu: cpus()[0]?.model, cores: cpus().length, kernel: release(), node: process.version, date: new Date().toISOString() },
};
const rows = [];
const mb = (bytes) => `${number(bytes / 1e6)} MB`;
const ms = ({ p50 }) => `${number(p50, 2)} ms`;

// `value` is judged by `met`; what the other ways and others took stands beside it.
function row(work, goal, measured, met, { fork = '', exec = '', against = '' } = {}) {
  rows.push([work, goal, measured, met ? 'ok' : 'MISSED', fork, exec, against]);
}

const parts = {
  hello: [measure.measureHello, (found) => {
    const { auto, fork, exec, node, bun, docker, starts } = found;
    const others = { fork: ms(fork), exec: ms(exec) };
    row('hello, p50, idle pool', '2 ms', ms(auto), auto.p50 <= 2, { ...others, against: starts });
    row('the same against bare node', '0.1 x', `${number(auto.p50 / node.p50, 2)} x`, auto.p50 <= node.p50 / 10, { fork: `${number(fork.p50 / node.p50, 2)} x`, exec: `${number(exec.p50 / node.p50, 2)} x`, against: `bare node ${ms(node)}` });
    if (bun) row('the same against bare bun', 'less', `${number(auto.p50 / bun.p50, 2)} x`, auto.p50 < bun.p50, { fork: `${number(fork.p50 / bun.p50, 2)} x`, exec: `${number(exec.p50 / bun.p50, 2)} x`, against: `bare bun run ${ms(bun)}` });
    notes.push(`hello with the SDK as client: ${ms(found['auto, with the SDK'])}; p99 of auto ${number(auto.p99)}, fork ${number(fork.p99)}, exec ${number(exec.p99)}, bare node ${number(node.p99)} ms.`);
    notes.push(docker ? `docker run: ${ms(docker)}.` : 'docker run was not measured: no daemon with node:lts-slim answers.');
    if (!bun) notes.push('bun was not measured: npm could not install it.');
  }],
  steady: [measure.measureSteady, ({ auto, fork }) => {
    row(`p99 of ${auto.n} calls, one every 10 ms`, '8 ms', `${number(auto.p99)} ms`, auto.p99 <= 8, { fork: `${number(fork.p99)} ms`, exec: 'cannot', against: `p50 ${ms(auto)}; ${auto.starts}` });
  }],
  burst: [measure.measureBurst, ({ auto, fork, exec, node, starts }) => {
    row('20 calls at once, the last answer', '40 ms', ms(auto), auto.p50 <= 40, { fork: ms(fork), exec: ms(exec), against: `20 bare nodes ${ms(node)}; ${starts}` });
  }],
  sustained: [measure.measureSustained, ({ auto, fork, exec, node, starts }) => {
    const rate = (value) => `${number(value, 0)}/s`;
    row('runs per second, 8 callers', '450/s', rate(auto), auto >= 450, { fork: rate(fork), exec: rate(exec), against: starts });
    row('the same against bare node, 8-wide', '5 x', `${number(auto / node)} x`, auto >= 5 * node, { fork: `${number(fork / node)} x`, exec: `${number(exec / node)} x`, against: `bare node ${rate(node)}` });
  }],
  session: [measure.measureSession, ({ auto, fork, exec, starts }) => {
    row('run_js in a session, p50', '3 ms', ms(auto), auto.p50 <= 3, { fork: ms(fork), exec: ms(exec), against: starts });
  }],
  everyday: [measure.measureEveryday, ({ auto, fork, exec, node, starts }) => {
    const faster = (each) => `${number(node.p50 / each.p50, 2)} x`;
    row('fetch, crypto, streams: against bare node', '2 x faster', faster(auto), node.p50 >= 2 * auto.p50, { fork: faster(fork), exec: faster(exec), against: `bare node ${ms(node)}; ${starts}` });
  }],
  busy: [measure.measureBusy, ({ auto, fork, exec, node, starts }) => {
    const more = (each) => `${each.p50 >= node.p50 ? '+' : '-'} ${number(Math.abs(each.p50 / node.p50 - 1) * 100)} %`;
    row('two seconds of JIT and GC: against bare node', '+ 3 %', more(auto), auto.p50 <= node.p50 * 1.03, { fork: more(fork), exec: more(exec), against: `bare node ${number(node.p50, 0)} ms; ${starts}` });
  }],
  memory: [measure.measureMemory, ({ few, many, further, private: own }) => {
    row('each further parked Node.js, PSS', '6 MB', mb(further), further <= 6e6, { against: `${many.count} parked against ${few.count}; zygote ${mb(many.zygote)} RSS` });
    row('the same, private', '3 MB', mb(own), own <= 3e6, { against: `${many.threads} threads` });
  }],
  live: [measure.measureSessions, ({ count, few, many, starts }) => {
    row(`hello with ${count} live sessions`, '1 session + 20 %', `${many.p50 >= few.p50 ? '+' : '-'} ${number(Math.abs(many.p50 / few.p50 - 1) * 100)} %`, many.p50 <= few.p50 * 1.2, { against: `${ms(many)} against ${ms(few)}; ${starts}` });
  }],
};

const notes = [];
const context = { samples, files, quick: options.quick };
const isWanted = (name) => name.includes(options.only);
if (isWanted('hello')) Object.assign(context, { bun: bunPath(), docker: dockerAnswers() });
for (const [name, [take, report]] of Object.entries(parts)) {
  if (!isWanted(name)) continue;
  try {
    figures[name] = await take(context);
    report(figures[name]);
  } catch (error) {
    figures[name] = { error: error.message };
    row(name, '', `failed: ${error.message}`, false); // and the others go on
  }
  await closeAll();
  await closeSdk();
}
console.log(`${figures.machine.cores} x ${figures.machine.cpu}, Linux ${figures.machine.kernel}, Node.js ${process.version}, ${samples} samples; node-start auto unless it says otherwise\n`);
if (rows.length > 0) console.log(tableOf(['work', 'goal', 'auto', 'verdict', 'fork', 'exec', 'how, and against what'], rows));
for (const note of notes) console.log(`\n${note}`);
if (isWanted('steps')) {
  figures.steps = await measure.measureSteps(context);
  await closeAll();
  const shown = (value) => (value === undefined ? '' : String(Math.round(value * 1000) / 1000));
  console.log(`\nWhat belljar tells of a hello, p50:\n\n${tableOf(['number', ...measure.ways], figures.steps.map(([name, ...values]) => [name, ...values.map(shown)]))}`);
}
if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
process.exit(rows.some((cells) => cells[3] === 'MISSED') ? 1 : 0);
