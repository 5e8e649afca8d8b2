#!/usr/bin/env node
// Compares belljar's resolver with the real npm: the same dependencies, the same tree?
//
//   tests/packages/compare_with_npm.mjs [SET…]
//
// A SET is dependencies with spaces between them: "express", "react@18 react-dom@18". Without any,
// those of sets.txt. Needs the npm registry, npm 11 and build/release/resolve_packages (ninja -C
// build/release resolve_packages); exits with 77 if one is missing, with 1 if a tree differs.
// KEEP=DIR keeps the answers of npm there and uses them again.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

const here = dirname(fileURLToPath(import.meta.url));
const resolver = process.env.RESOLVER ?? join(here, '../../build/release/resolve_packages');
// What only full documents have. Registries that send abbreviated ones when asked for them (RFC: the
// npm registry does) leave these out of our entries.
const onlyInFullDocuments = ['license', 'funding'];

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

function readSets() {
  if (process.argv.length > 2) return process.argv.slice(2);
  return readFileSync(join(here, 'sets.txt'), 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
}

function parse(set) {
  return set.split(/\s+/).map((word) => {
    const at = word.indexOf('@', 1);
    return at < 0 ? [word, 'latest'] : [word.slice(0, at), word.slice(at + 1)];
  });
}

function askNpm(dependencies, order) {
  const kept = process.env.KEEP &&
    join(process.env.KEEP, `${createHash('sha256').update(JSON.stringify(order)).digest('hex').slice(0, 16)}.json`);
  if (kept && existsSync(kept)) return JSON.parse(readFileSync(kept, 'utf8'));
  const directory = mkdtempSync(join(tmpdir(), 'compare-'));
  try {
    writeFileSync(join(directory, 'package.json'), JSON.stringify({ dependencies }));
    const start = performance.now();
    const { status, stderr } = spawnSync('npm', ['install', '--package-lock-only', '--ignore-scripts', '--no-audit',
      '--no-fund', '--loglevel=error', '--prefer-offline'], { cwd: directory, encoding: 'utf8' });
    const answer = { milliseconds: performance.now() - start };
    if (status === 0)
      answer.packages = JSON.parse(readFileSync(join(directory, 'package-lock.json'), 'utf8')).packages;
    else
      answer.error = stderr.split('\n').filter((line) => line.startsWith('npm error')).slice(0, 3).join(' | ');
    if (kept) mkdirSync(process.env.KEEP, { recursive: true });
    if (kept) writeFileSync(kept, JSON.stringify(answer));
    return answer;
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function firstDifference(npm, ours) {
  for (const path of [...new Set([...Object.keys(npm), ...Object.keys(ours)])].sort()) {
    if (!(path in ours)) return `npm has ${path} ${npm[path].version}, we do not`;
    if (!(path in npm)) return `we have ${path} ${ours[path].version}, npm does not`;
    if (npm[path].version !== ours[path].version)
      return `${path} is ${npm[path].version} for npm, ${ours[path].version} for us`;
    for (const key of new Set([...Object.keys(npm[path]), ...Object.keys(ours[path])])) {
      if (key === 'resolved' || isDeepStrictEqual(npm[path][key], ours[path][key])) continue;
      if (onlyInFullDocuments.includes(key) && !(key in ours[path])) continue;
      return `${path} has ${key} ${JSON.stringify(npm[path][key])} for npm, ${JSON.stringify(ours[path][key])} for us`;
    }
  }
  return null;
}

function compare(set, node, npm) {
  const dependencies = parse(set).sort(([a], [b]) => a.localeCompare(b, 'en'));
  const theirs = askNpm(Object.fromEntries(dependencies), dependencies);
  const words = dependencies.map(([name, range]) => `${name}@${range}`);
  const { status, stdout, stderr } = spawnSync(resolver, [node, npm, ...words], { encoding: 'utf8', maxBuffer: 1 << 28 });
  if (status !== 0) return ['differs', `the resolver ended with ${status}: ${stderr}`];
  const ours = JSON.parse(stdout);
  const times = `npm ${theirs.milliseconds.toFixed(0)} ms, we ${ours.cold?.toFixed(0)} ms, with documents ` +
    `${ours.warm?.toFixed(1)} ms (${ours.documents} documents, ${(ours.bytes / 1e6).toFixed(1)} MB)`;
  if (ours.not_sure) return ['not sure', `${ours.not_sure}; ${theirs.error ?? ''} ${times}`];
  if (ours.error && theirs.error) return ['same', `both refuse: ${ours.error} <> ${theirs.error}`];
  if (ours.error || theirs.error) return ['differs', `npm: ${theirs.error ?? 'fine'}; we: ${ours.error ?? 'fine'}`];
  delete theirs.packages[''];
  const difference = firstDifference(theirs.packages, ours.packages);
  if (difference) return ['differs', difference];
  return ['same', `${Object.keys(ours.packages).length} packages, ${times}`];
}

if (!existsSync(resolver)) skip(`there is no ${resolver}`);
const npm = execFileSync('npm', ['--version'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
if (!npm.startsWith('11.')) skip(`npm is ${npm}`);
if (spawnSync('npm', ['ping'], { stdio: 'ignore' }).status !== 0 &&
    spawnSync('npm', ['view', 'lodash', 'version'], { stdio: 'ignore' }).status !== 0)
  skip('the registry cannot be reached');
const counts = { same: 0, differs: 0, 'not sure': 0 };
for (const set of readSets()) {
  const [result, text] = compare(set, process.versions.node, npm);
  ++counts[result];
  console.log(`${result.padEnd(8)} ${set}: ${text}`);
}
console.log(`${counts.same} passed, ${counts.differs} failed, ${counts['not sure']} skipped`);
process.exitCode = counts.differs > 0 ? 1 : 0;
