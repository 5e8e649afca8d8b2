// Runs the scenario once to learn which calls there are, then once per fault. See README.md.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { belljar, cli } from '../e2e/lib/belljar.mjs';
import { startTinyRegistry } from '../e2e/lib/tiny_registry.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { ends, errors } from './lib/errors.mjs';
import { killAll, livesOn, namesOf, slotOf } from './lib/leftovers.mjs';
import { Plan } from './lib/plan.mjs';
import { forest, play } from './lib/scenario.mjs';

// What CI has time for. A zygote takes as long to start as some lives of a server without one.
const sampleSizes = { exec: 180, packages: 60, scripts: 12, fork: 10, parked: 10 };
const directory = dirname(belljar);
const files = join(directory, 'files');
const programs = { belljar: new Plan(belljar), launcher: new Plan(`${belljar}-launcher`) };
const env = { FILES_DIR: files, BELLJAR_SPARE_SANDBOXES: '0', XDG_RUNTIME_DIR: directory };
const reference = {}; // what programs find of their confinement without a fault, by how they were started

const [all, places] = ['--all', '--places'].map((option) => process.argv.includes(option));
const chosenWay = process.argv.includes('--node-start') ? process.argv[process.argv.indexOf('--node-start') + 1] : undefined;
const [onlyProgram, only] = process.argv.slice(2).filter((word) => !word.startsWith('--') && word !== chosenWay);
// "packages" is a day of its own: sets that nobody has, from a registry in this process into a store that is empty. "scripts" is
// one with a package whose install script runs.
const installing = ['packages', 'scripts'];
const data = join(directory, 'data');
const store = join(data, 'packages');
const registry = await startTinyRegistry(null, forest);
async function prepareData() {
  const { version, prefix } = JSON.parse((await cli(['runtime', 'list', '--json'])).stdout).at(-1);
  mkdirSync(join(data, 'runtimes', version, 'bin'), { recursive: true });
  cpSync(join(prefix, 'bin/node'), join(data, 'runtimes', version, 'bin/node'));
  cpSync(join(prefix, 'lib/node_modules/npm'), join(data, 'runtimes', version, 'lib/node_modules/npm'), { recursive: true }); // it runs the scripts
  packagesEnv.BELLJAR_IMAGE = `node:${version}`;
}
const packagesEnv = { npm_config_registry: registry.url, BELLJAR_DATA_DIR: data, BELLJAR_PACKAGES_MAX_AGE: '3600', BELLJAR_PACKAGES_ALLOW_SCRIPTS: 'nest' };

const isGood = (!onlyProgram || programs[onlyProgram]) && (!chosenWay || sampleSizes[chosenWay]);
assert.ok(isGood, 'usage: tests/faults/run [--all|--places] [--node-start exec|fork|parked|packages|scripts] [belljar|launcher] [CALL[:ERROR[:NTH]]]');

// One life of a belljar, with an eye on what it leaves. `end` is the signal that may end it, `isCold` whether no package is
// there.
async function run(way, { end, isCold = true } = {}) {
  const isInstalling = installing.includes(way);
  if (isInstalling && isCold) rmSync(store, { recursive: true, force: true });
  rmSync(files, { recursive: true, force: true });
  mkdirSync(files);
  let slot;
  let survivors = [];
  const gone = () => (survivors = livesOn(directory, slot)).length === 0;
  const more = isInstalling ? packagesEnv : {};
  const result = await play({ env: { ...env, ...more, BELLJAR_NODE_START: isInstalling ? 'exec' : way }, day: isInstalling ? way : 'usual', end, reference, onUse: () => (slot = slotOf(directory)), killAll: () => killAll(directory) });
  await until('all processes to end', gone, 3_000).catch(() => assert.fail(`these live on: ${survivors}`));
  return { ...result, slot };
}

const record = async (program, way) => {
  programs[program].record();
  const { starts, trouble } = await run(way);
  assert.deepEqual(trouble, [], 'nothing fails without a fault');
  assert.ok(starts.has({ parked: 'parked-fork', packages: 'exec', scripts: 'exec' }[way] ?? way), `programs started by ${[...starts]}`);
  const { calls } = programs[program].read();
  programs[program].remove();
  assert.ok(calls.length > 0, `${program} was built with the injector`);
  return calls;
};

// Every fault there could be: each call that was seen, with each error it may have. `chosen` are the first, the middle
// and the last call of every place in the source: loops and helpers make hundreds of the same. Of copies, packages and
// their scripts only what is done for them is tried: places where nothing is when programs are executed without any.
const seenPlaces = new Set();
function faultsOf(program, way, calls) {
  const counts = {};
  const places = new Map();
  for (const { name, site } of calls) {
    const nth = (counts[name] = (counts[name] ?? 0) + 1);
    const key = name === 'new' ? name : `${name} ${site}`; // memory ends all alike
    if (!places.has(key)) places.set(key, { name, numbers: [] });
    places.get(key).numbers.push(nth);
  }
  const fresh = [...places].filter(([key]) => all || !seenPlaces.has(`${program} ${key}`));
  if (way === 'exec' || way === 'packages') for (const [key] of fresh) seenPlaces.add(`${program} ${key}`);
  return fresh.map(([, place]) => place).sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))).flatMap(({ name, numbers }) => {
    const chosen = new Set([numbers[0], numbers[numbers.length >> 1], numbers.at(-1)]);
    const kinds = errors[name] ?? assert.fail(`errors.mjs does not know ${name}`);
    const ways = installing.includes(way) && program === 'belljar' && ends.includes(name) ? [...kinds, 'SIGKILL'] : kinds;
    return ways.flatMap((error) => numbers.map((nth) => ({ program, way, name, error, nth, chosen: chosen.has(nth) })));
  });
}

const wanted = ({ name, error, nth }) => {
  const [call, kind, number] = only?.split(':') ?? [];
  return (!call || call === name) && (!kind || kind === error) && (!number || Number(number) === nth);
};

const text = ({ program, way, name, error, nth }) => `--node-start ${way} ${program} ${name}:${error}:${nth}`;

function placeOf(fault, site) {
  try {
    const file = fault.program === 'launcher' ? `${belljar}-launcher` : belljar;
    const base = BigInt(`0x${/([0-9a-f]+) . __executable_start/.exec(execFileSync('nm', [file], { maxBuffer: 1 << 28 }).toString())?.[1] ?? '0'}`);
    return execFileSync('addr2line', ['-Cfpe', file, `0x${(base + site - 1n).toString(16)}`]).toString().trim();
  } catch {
    return `offset 0x${site.toString(16)}`;
  }
}


// What an installation that failed or was killed has left: nothing that is not whole, and nothing that keeps the next one.
async function checkStore(way) {
  const isWhole = (name) => ['manifest.json', 'package-lock.json', 'file-list'].every((file) => readdirSync(join(store, 'layers', name)).includes(file));
  const layers = () => { try { return readdirSync(join(store, 'layers')); } catch { return []; } };
  assert.ok(layers().every(isWhole), 'there is no half layer');
  const { code, stdout, stderr } = await cli(['packages', 'verify'], { env: { ...env, ...packagesEnv } });
  assert.equal(code, 0, `what is there is as it was installed: ${stdout}${stderr}`);
  const { trouble } = await run(way, { isCold: false });
  assert.deepEqual(trouble, [], 'the next run works');
  assert.deepEqual(readdirSync(join(store, 'tmp')), [], 'nothing is left of the one before');
}

// 'passed', 'failed' or 'missed': the call did not happen as often this time.
async function attempt(fault) {
  const plan = programs[fault.program];
  plan.set(fault);
  let result;
  let problem;
  const onInvalid = (error) => (problem = error); // stdout of the server was no JSON
  process.on('uncaughtException', onInvalid);
  try {
    result = await run(fault.way, { end: fault.error === 'SIGKILL' ? 'SIGKILL' : undefined });
  } catch (error) {
    problem ??= error;
  }
  process.off('uncaughtException', onInvalid);
  const { fired, site } = plan.read();
  plan.remove();
  try {
    // Names that are left because their removal failed, or because the launcher died, are removed by the next start.
    const left = () => namesOf(result?.slot);
    const removed = !problem && (await until('the slot to be removed', () => left().length === 0, 500).catch(() => false));
    if (!removed) await run('exec');
    assert.deepEqual(left(), [], 'nothing is left after the next start');
    if (!problem && installing.includes(fault.way)) await checkStore(fault.way);
  } catch (error) {
    problem ??= error;
  }
  if (problem) {
    console.log(`FAILED ${text(fault)}${fired ? ` in ${placeOf(fault, site)}` : ' (not reached)'}\n  ${problem.message.replaceAll('\n', '\n  ')}`);
    return 'failed';
  }
  if (process.env.VERBOSE) console.log(`${fired ? 'ok    ' : 'missed'} ${text(fault)}${result.trouble.length > 0 ? `\n  ${result.trouble.join('\n  ')}` : ''}${result.stderr ? `\n  stderr: ${result.stderr.trim()}` : ''}`);
  return fired ? 'passed' : 'missed';
}

const started = performance.now();
const chosen = [];
await prepareData();
await run('exec'); // whatever is executed after all is compared with this
for (const [way, size] of Object.entries(sampleSizes)) {
  const isBefore = way === 'exec' || (way === 'packages' && chosenWay === 'scripts');
  if (chosenWay && way !== chosenWay && !isBefore) continue;
  const faults = [];
  for (const program of Object.keys(programs)) {
    if (onlyProgram && program !== onlyProgram) continue;
    // Without those before it is not known which places are the others' own.
    const found = faultsOf(program, way, await record(program, way));
    if (!chosenWay || way === chosenWay) faults.push(...found.filter((fault) => (all || fault.chosen) && wanted(fault)));
  }
  const stride = all || places ? 1 : Math.max(1, Math.ceil(faults.length / size));
  console.log(`node-start ${way}: ${faults.length} faults, every ${stride}. tried`);
  for (let i = Math.floor(stride / 2); i < faults.length; i += stride) chosen.push(faults[i]);
}
const counts = { passed: 0, failed: 0, missed: 0 };
const perCall = {};
for (const fault of chosen) {
  counts[await attempt(fault)]++;
  const key = `${fault.way} ${fault.program} ${fault.name}:${fault.error}`;
  perCall[key] = (perCall[key] ?? 0) + 1;
}
await run('exec');
if (process.env.VERBOSE) console.log(Object.entries(perCall).map(([key, count]) => `${count} ${key}`).join('\n'));
console.log(`${counts.missed} did not come about: the call happened less often; ${Math.round((performance.now() - started) / 1000)} s`);
console.log(`${counts.passed} passed, ${counts.failed} failed, 0 skipped`);
registry.stop();
process.exitCode = counts.failed > 0 ? 1 : 0;
