// The table of what dependencies cost. See bench/packages.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { cli, root } from '../tests/e2e/lib/belljar.mjs';
import { Server } from '../tests/e2e/lib/stdio.mjs';
import { startTinyRegistry } from '../tests/e2e/lib/tiny_registry.mjs';
import { number, quantile, tableOf, timed } from './lib/numbers.mjs';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false }, json: { type: 'string' } } });
const samples = options.quick ? 20 : 100;
const rounds = options.quick ? 3 : 7;

const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));

// A data directory of our own, with a Node.js and its npm: nothing is there before.
const data = join(directory, 'data');
const { version, prefix } = JSON.parse((await cli(['runtime', 'list', '--json'])).stdout).at(-1);
mkdirSync(join(data, 'runtimes', version, 'bin'), { recursive: true });
cpSync(join(prefix, 'bin/node'), join(data, 'runtimes', version, 'bin/node'));
cpSync(join(prefix, 'lib/node_modules/npm'), join(data, 'runtimes', version, 'lib/node_modules/npm'), { recursive: true });

// The operator's own settings: how the registry is reached is in them.
const own = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(npm_config_|NPM_CONFIG_|NODE_EXTRA_CA_CERTS$|SSL_CERT|https?_proxy$|HTTPS?_PROXY$|no_proxy$|NO_PROXY$)/.test(name)));
async function start(more = {}) {
  const server = Server.start(null, { env: { ...own, BELLJAR_DATA_DIR: data, BELLJAR_IMAGE: `node:${version}`, BELLJAR_NODE_START: 'auto', BELLJAR_PACKAGES_MAX_AGE: '86400', BELLJAR_MAX_SANDBOXES: '100', ...more } });
  await server.initialize();
  return server;
}
const list = (packages) => Object.entries(packages).map(([name, range]) => ({ name, version: range }));
async function run(server, packages, code = 'console.log("hello")') {
  const { ms, value } = await timed(() => server.run(code, { dependencies: list(packages), timeoutMs: 60_000 }));
  if (value.isError || value.stdout !== 'hello\n') throw new Error(value.text);
  return { ms, install: value.install };
}
const pause = () => new Promise((resolve) => setTimeout(resolve, 40));

// pnpm from the registry that npm is configured for, kept in build/.
function pnpmPath() {
  const place = join(root, 'build', 'pnpm');
  const program = join(place, 'node_modules/pnpm/bin/pnpm.cjs');
  if (existsSync(program)) return program;
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, 'package.json'), '{}\n');
  try {
    execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', 'pnpm@10'], { cwd: place, stdio: 'ignore', timeout: 300_000 });
  } catch {
    return undefined;
  }
  return existsSync(program) ? program : undefined;
}

// Each of the others in a fresh project, with a cache that knows everything.
async function others(packages) {
  const project = join(directory, 'project');
  const fresh = () => (rmSync(join(project, 'node_modules'), { recursive: true, force: true }), rmSync(join(project, 'package-lock.json'), { force: true }));
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'x', version: '1.0.0', dependencies: packages }));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', `--cache=${join(directory, 'npm')}`];
  const npm = (command) => timed(async () => execFileSync('npm', [command, ...flags], { cwd: project, stdio: 'ignore' }));
  const result = { install: [], ci: [], pnpm: [] };
  const pnpm = pnpmPath();
  for (let i = 0; i <= rounds; i++) {
    fresh();
    const install = await npm('install');
    rmSync(join(project, 'node_modules'), { recursive: true, force: true });
    const ci = await npm('ci').catch(() => undefined); // it refuses some lockfiles of npm's own making
    fresh();
    const also = pnpm && (await timed(async () => execFileSync(process.execPath, [pnpm, 'install', '--ignore-scripts', '--prefer-offline', `--store-dir=${join(directory, 'pnpm')}`], { cwd: project, stdio: 'ignore' })));
    if (i === 0) continue; // fills the caches
    result.install.push(install.ms);
    if (ci) result.ci.push(ci.ms);
    if (also) result.pnpm.push(also.ms);
  }
  rmSync(project, { recursive: true, force: true });
  return Object.fromEntries(Object.entries(result).map(([name, times]) => [name, times.length > 0 ? quantile(times, 0.5) : NaN]));
}

const rows = [];
const figures = { machine: { cpu: cpus()[0]?.model, cores: cpus().length, kernel: release(), node: version, date: new Date().toISOString() } };
const ms = (value) => (Number.isNaN(value) ? 'none' : `${number(value, value < 10 ? 2 : 0)} ms`);
function row(work, goal, measured, met, beside = {}) {
  rows.push([work, goal, measured, met ? 'ok' : 'MISSED', ms(beside.ci ?? NaN), ms(beside.install ?? NaN), ms(beside.pnpm ?? NaN)]);
  figures[work] = { goal, measured, met, beside };
}

const sets = { lodash: { lodash: '4' }, express: { express: '5' }, '300 packages': { eslint: '9', jest: '30', webpack: '5' } };
const server = await start();
await run(server, {});

for (const [name, packages] of Object.entries(sets)) {
  const { install } = await run(server, packages);
  const beside = await others(packages);
  const without = [];
  const withPackages = [];
  for (let i = 0; i < samples; i++) {
    await pause();
    without.push((await run(server, {})).ms);
    await pause();
    withPackages.push((await run(server, packages)).ms);
  }
  const added = quantile(withPackages, 0.5) - quantile(without, 0.5);
  const goal = name === '300 packages' ? 2 : 1;
  row(`known set: ${name} (${install.packages} packages), added to a run of ${number(quantile(without, 0.5))} ms`, `${goal} ms`, ms(added), added <= goal, beside);
  figures[name] = beside;
}

// The same packages under other ranges: sets that nobody asked for before, of packages that are all there.
for (const [name, ranges, goal] of [['lodash', ['^4.0.0', '^4.1.0', '^4.2.0', '^4.3.0', '^4.4.0', '^4.5.0', '^4.6.0'], 100], ['express', ['^5.0.0', '>=5', '5.x', '>=5.0.0', '^5', '5.*', '>=5 <6'], 250]]) {
  const times = [];
  for (const range of ranges.slice(0, rounds)) times.push((await run(server, { [name]: range })).install.ms);
  row(`first use of a set: ${name}, packages there`, `${goal} ms`, ms(quantile(times, 0.5)), quantile(times, 0.5) <= goal, figures[name]);
}

// A registry in this process, with the lodash of the real one.
execFileSync('npm', ['pack', 'lodash@4', `--pack-destination=${directory}`], { cwd: directory, stdio: 'ignore' });
const tarball = readFileSync(join(directory, readdirSync(directory).find((name) => name.startsWith('lodash-'))));
const times = [];
let tarballs = 0;
for (let i = 0; i < rounds; i++) {
  await cli(['packages', 'prune', '--to', '0'], { env: { BELLJAR_DATA_DIR: data } });
  const registry = await startTinyRegistry(null, [{ name: 'lodash', version: '4.17.0', bytes: tarball }]);
  const fresh = await start({ npm_config_registry: registry.url });
  await run(fresh, {});
  if (i === 0) {
    const results = await Promise.all(Array.from({ length: 32 }, () => run(fresh, { lodash: '*' })));
    tarballs = registry.requests.filter(({ url }) => url.endsWith('.tgz')).length;
    row('32 callers, the same new set at once', '1 install', `${tarballs} install${tarballs === 1 ? '' : 's'}`, tarballs === 1 && results.length === 32);
  } else {
    times.push((await run(fresh, { lodash: '4' })).install.ms);
  }
  await fresh.stop();
  registry.stop();
}
row('first use of lodash, nothing there, registry on loopback', '400 ms', ms(quantile(times, 0.5)), quantile(times, 0.5) <= 400);

// Fifty sets of express and one package more each, as people write servers. For comparison the hardest ones: with the smallest
// packages there are, and the same set under fifty ranges.
const companions = `lodash axios zod uuid chalk commander dayjs date-fns moment async rxjs ajv yargs minimist semver glob rimraf mkdirp fs-extra
  nanoid dotenv cors helmet morgan compression winston pino joi yup validator jsonwebtoken bcryptjs ws marked cheerio csv-parse js-yaml
  xml2js handlebars ejs mustache ramda immer bluebird p-limit node-fetch form-data iconv-lite luxon decimal.js`.split(/\s+/);
const smallest = `left-pad is-odd is-even is-number is-plain-object kind-of deepmerge extend object-assign camelcase decamelize slash path-exists find-up
  locate-path p-locate p-try yocto-queue ansi-regex strip-ansi string-width wrap-ansi emoji-regex is-fullwidth-code-point color-name
  color-convert ansi-styles supports-color has-flag escape-string-regexp picocolors kleur mri arg clsx classnames dequal fast-deep-equal
  fast-json-stable-stringify rfdc klona p-map p-queue delay throttle-debounce isarray xtend repeat-string pad-left array-unique`.split(/\s+/);
const withExpress = (names) => names.map((name) => ({ express: '5', [name]: '*' }));
const equal = Array.from({ length: 50 }, (_, i) => ({ express: `>=5.${i % 2}.${i >> 1} <6 || 5` }));

// What these directories take on the disk, those of `isCounted`; files that share their blocks count once.
function diskOf(names, isCounted = () => true) {
  const sizes = new Map();
  const walk = (path) => {
    for (const entry of readdirSync(path, { withFileTypes: true })) {
      const inner = join(path, entry.name);
      const { ino, blocks } = lstatSync(inner);
      if (isCounted(inner)) sizes.set(ino, blocks * 512);
      if (entry.isDirectory()) walk(inner);
    }
  };
  for (const name of names) walk(join(data, 'packages', name));
  return [...sizes.values()].reduce((sum, size) => sum + size, 0);
}
// All that is kept, against every package unpacked once: without our own lists and the directories around them.
async function measureDisk(title, sets, goal) {
  await cli(['packages', 'prune', '--to', '0'], { env: { BELLJAR_DATA_DIR: data } });
  rmSync(join(data, 'packages', 'lockfiles'), { recursive: true, force: true });
  const fresh = await start();
  for (const packages of sets) await run(fresh, packages);
  await fresh.stop();
  const union = diskOf(['contents'], (path) => /\/contents\/[^/]+\/files/.test(path));
  const ratio = diskOf(['layers', 'trees', 'contents', 'lockfiles']) / union;
  row(`disk for ${title}, against their union of ${number(union / 2 ** 20, 1)} MiB`, goal ? `${goal} x` : 'none', `${number(ratio, 2)} x`, ratio <= (goal ?? Infinity));
}
await server.stop();
await measureDisk('50 sets that share most packages', withExpress(companions), 1.3);
await measureDisk('50 sets with the smallest packages', withExpress(smallest));
await measureDisk('the same packages under 50 ranges', equal);

console.log(`\n${figures.machine.cpu}, ${figures.machine.cores} cores, Linux ${figures.machine.kernel}, Node.js ${version}\n`);
console.log(tableOf(['work', 'goal', 'belljar', '', 'npm ci', 'npm install', 'pnpm'], rows));
if (options.json) writeFileSync(options.json, JSON.stringify(figures, null, 2));
process.exit(rows.some(([, , , verdict]) => verdict === 'MISSED') ? 1 : 0);
