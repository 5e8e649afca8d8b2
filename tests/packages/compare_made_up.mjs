#!/usr/bin/env node
// Compares belljar's resolver with npm's own (its Arborist, in this process) on made-up registries: packages
// that depend on each other at random, with peers, optional ones, conflicts, tags and missing versions.
//
//   tests/packages/compare_made_up.mjs [FIRST_SEED [COUNT]]
//
// The same seed makes the same registry. Needs npm 11 and build/release/resolve_packages, no network. Exits with
// 77 if one is missing, with 1 if a tree differs. VERBOSE=1 prints the registry of what differs.
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual, promisify } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const resolver = process.env.RESOLVER ?? join(here, '../../build/release/resolve_packages');
const npmDirectory = dirname(dirname(realpathSync(execFileSync('which', ['npm'], { encoding: 'utf8' }).trim())));
const npmVersion = createRequire(npmDirectory + '/')('./package.json').version;
if (!existsSync(resolver) || !npmVersion.startsWith('11.')) {
  console.log('skipped: resolve_packages or npm 11 is missing');
  process.exit(77);
}
const Arborist = createRequire(npmDirectory + '/')('@npmcli/arborist');

function randomNumbers(seed) {  // mulberry32
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

function makeRegistry(seed) {
  const random = randomNumbers(seed);
  const below = (n) => Math.floor(random() * n);
  const names = ['a', 'b-c', 'bc', '@s/d', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'].slice(0, 4 + below(9));
  const peerShare = random() * 0.6;
  const versions = {};
  for (const name of names)
    versions[name] = ['1.0.0', '1.1.0', '2.0.0', '2.0.1', '3.0.0-rc.1', '3.0.0'].filter(() => random() < 0.55);
  for (const name of names) if (versions[name].length === 0) versions[name].push('1.0.0');
  const range = (name) => {
    const version = versions[name][below(versions[name].length)];
    if (random() < 0.01) return '^9.0.0';
    if (random() < 0.02) return 'latest';
    return [`^${version}`, `^${version}`, version, '*', `>=${version}`, `~${version}`, `${version} || 1`][below(7)];
  };
  const documents = {};
  for (const name of names) {
    const document = { name, 'dist-tags': {}, versions: {} };
    for (const version of versions[name]) {
      const id = Buffer.from(`${name}@${version}`).toString('base64');
      const manifest = { name, version, dist: { tarball: `http://127.0.0.1/${id}.tgz`, integrity: `sha512-${id}` } };
      for (let i = below(4); i > 0; --i) {
        const other = names[below(names.length)];
        if (other === name && random() < 0.8) continue;
        const kind = random() < peerShare ? 'peerDependencies' : random() < 0.15 ? 'optionalDependencies' : 'dependencies';
        const alias = kind === 'dependencies' && random() < 0.03;
        (manifest[kind] ??= {})[alias ? `alias-${other.replace(/\W/g, '')}` : other] =
          alias ? `npm:${other}@${range(other)}` : range(other);
        if (kind === 'peerDependencies' && random() < 0.3) (manifest.peerDependenciesMeta ??= {})[other] = { optional: true };
      }
      if (random() < 0.05) manifest.deprecated = 'old';
      if (random() < 0.05) manifest.engines = { node: '>=99' };
      if (random() < 0.05) manifest.os = ['!linux'];
      document.versions[version] = manifest;
    }
    const released = versions[name].filter((version) => !version.includes('-'));
    const candidates = released.length > 0 ? released : versions[name];
    document['dist-tags'].latest = random() < 0.8 ? candidates.at(-1) : candidates[below(candidates.length)];
    documents[name] = document;
  }
  const dependencies = {};
  for (const name of names) if (random() < 0.35) dependencies[name] = range(name);
  if (Object.keys(dependencies).length === 0) dependencies[names[0]] = '*';
  return { documents, dependencies };
}

const registries = new Map();
const server = createServer((request, response) => {
  const [, seed, name] = request.url.split('/');
  const document = registries.get(seed)?.documents[decodeURIComponent(name)];
  response.statusCode = document ? 200 : 404;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(document ?? {}));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const scratch = mkdtempSync(join(tmpdir(), 'made-up-'));

async function askNpm(seed, dependencies, registry) {
  const path = join(scratch, `${seed}`);
  mkdirSync(path);
  writeFileSync(join(path, 'package.json'), JSON.stringify({ dependencies }));
  try {
    const arborist = new Arborist({ path, registry, cache: join(path, 'cache'), nodeVersion: process.version, npmVersion,
      save: true, workspaces: [], audit: false, retry: { retries: 0 } });
    const tree = await arborist.buildIdealTree({ complete: true, save: true });
    const { packages } = tree.meta.commit();
    delete packages[''];
    return { packages: JSON.parse(JSON.stringify(packages)) };
  } catch (error) {
    return { error: `${error.code} ${error.message.split('\n')[0]}` };
  } finally {
    rmSync(path, { recursive: true });
  }
}

async function askUs(dependencies, registry) {
  const words = Object.entries(dependencies).map(([name, range]) => `${name}@${range}`);
  const environment = { ...process.env, npm_config_registry: registry };
  const { stdout } = await promisify(execFile)(resolver, [process.versions.node, npmVersion, ...words],
    { env: environment, maxBuffer: 1 << 26 });
  return JSON.parse(stdout);
}

function firstDifference(npm, ours) {
  for (const path of [...new Set([...Object.keys(npm), ...Object.keys(ours)])].sort()) {
    const { resolved, ...theirs } = npm[path] ?? {};
    if (!isDeepStrictEqual(theirs, ours[path] ?? {}))
      return `${path} is ${JSON.stringify(npm[path])} for npm, ${JSON.stringify(ours[path])} for us`;
  }
  return null;
}

async function compare(seed) {
  const made = makeRegistry(seed);
  registries.set(`${seed}`, made);
  const registry = `http://127.0.0.1:${server.address().port}/${seed}/`;
  const sorted = Object.fromEntries(Object.entries(made.dependencies).sort(([a], [b]) => a.localeCompare(b, 'en')));
  const ours = await askUs(sorted, registry);
  // Then npm is not asked: some registries make it run until it has no memory left.
  if (ours.not_sure) return ['not sure', ours.not_sure, made];
  const npm = await askNpm(seed, sorted, registry);
  registries.delete(`${seed}`);
  if (npm.error && ours.error) return ['same', '', made];
  if (npm.error || ours.error) return ['differs', `npm: ${npm.error ?? 'fine'}; we: ${ours.error ?? 'fine'}`, made];
  const difference = firstDifference(npm.packages, ours.packages);
  return difference ? ['differs', difference, made] : ['same', '', made];
}

const first = Number(process.argv[2] ?? 1);
const count = Number(process.argv[3] ?? 200);
const counts = { same: 0, differs: 0, 'not sure': 0 };
const reasons = {};
for (let seed = first; seed < first + count; ++seed) {
  const [result, text, made] = await compare(seed);
  ++counts[result];
  if (result === 'not sure') {
    const reason = text.replace(/(@s\/)?\b[a-l](-c|c)?\b|[\d.^~>=*|-]+(rc)?/g, '_');
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
  if (result === 'differs') console.log(`differs seed ${seed}: ${text}`);
  if (result === 'differs' && process.env.VERBOSE) console.log(JSON.stringify(made, null, 1));
}
console.log(reasons);
console.log(`${counts.same} passed, ${counts.differs} failed, ${counts['not sure']} skipped`);
process.exitCode = counts.differs > 0 ? 1 : 0;
server.close();
rmSync(scratch, { recursive: true });
