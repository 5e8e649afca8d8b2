// Which attacks there are (attacks.json, after the threat model), which cannot be tried here and why (not_applicable.json), and
// which tests try the others: an attack's id stands in the name of its tests.
import { readdirSync, readFileSync } from 'node:fs';

const folder = new URL('../', import.meta.url);
const read = (name) => readFileSync(new URL(name, folder), 'utf8');

export const attacks = JSON.parse(read('attacks.json')); // { id: severity }
export const notApplicable = JSON.parse(read('not_applicable.json')); // { id: reason }
export const classOf = (id) => id.slice(0, 2);
export const idsIn = (text) => text.match(/\b[A-Z]{2}\d\d\b/g) ?? [];

// The names of all tests, read from the sources.
export function names() {
  // Those that need a network are tried in the lab of tests/network.
  const files = ['./', 'lib/', '../network/'].flatMap((part) => readdirSync(new URL(part, folder)).filter((name) => name.endsWith('.mjs')).map((name) => part + name));
  return files.flatMap((file) => [...read(file).matchAll(/^ *(?:test|control)\(['`](.*?)(?<!\\)['`],/gm)].map(([call, name]) => (/^ *control/.test(call) ? 'control: ' : '') + name.replaceAll('\\', '')));
}

// { id: how many tests have it in their name }; controls prove a test, they are none.
export function tested() {
  const counts = {};
  for (const name of names()) if (!/\bcontrol\b/.test(name)) for (const id of idsIn(name)) counts[id] = (counts[id] ?? 0) + 1;
  return counts;
}

// The tests of a run, from its TAP: [{ name, outcome }], where outcome is passed, failed, skipped or weakness.
export function results(tap) {
  return [...tap.matchAll(/^ *(not )?ok \d+ - (.*?)(?: # (skip|todo)\b.*)?$/gim)].map(([, failed, name, directive]) => ({
    name, outcome: directive?.toLowerCase() === 'skip' ? 'skipped' : directive && failed ? 'weakness' : failed ? 'failed' : 'passed',
  }));
}
