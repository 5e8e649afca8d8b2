// Which attacks there are (attacks.json, after the threat model), which cannot be tried here and why (not_applicable.json), and
// which tests try the others: an attack's id stands in the name of its tests.
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../', import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), 'utf8');

export const attacks = JSON.parse(read('attacks.json')); // { id: severity }
export const notApplicable = JSON.parse(read('not_applicable.json')); // { id: reason }
export const classOf = (id) => id.slice(0, 2);
export const idsIn = (text) => text.match(/\b[A-Z]{2}\d\d\b/g) ?? [];

// { id: how many tests have it in their name }, read from the sources; controls prove a test, they are none.
export function tested() {
  // Those that need a network are tried in the lab of tests/network.
  const files = ['./', 'lib/', '../network/'].flatMap((part) => readdirSync(new URL(part, folder)).filter((name) => name.endsWith('.mjs')).map((name) => part + name));
  const counts = {};
  for (const file of files) {
    for (const [, name] of read(file).matchAll(/^ *test\(['`](.*?)(?<!\\)['`],/gm)) {
      if (!/\bcontrol\b/.test(name)) for (const id of idsIn(name)) counts[id] = (counts[id] ?? 0) + 1;
    }
  }
  return counts;
}

// The tests of a run, from its TAP: [{ name, outcome }], where outcome is passed, failed, skipped or weakness.
export function results(tap) {
  return [...tap.matchAll(/^ *(not )?ok \d+ - (.*?)(?: # (skip|todo)\b.*)?$/gim)].map(([, failed, name, directive]) => ({
    name, outcome: directive?.toLowerCase() === 'skip' ? 'skipped' : directive && failed ? 'weakness' : failed ? 'failed' : 'passed',
  }));
}
