// Which tests make sense where: belljar is root's, or, if tests/rootless/run says so, a user's who has one of its modes. What a
// test needs that such a user lacks is in not_for_users.json, with the reason.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test as declare } from 'node:test';

import { belljar, environment } from '../../e2e/lib/belljar.mjs';
import { textOf } from '../../e2e/lib/proc.mjs';

const mode = process.env.BELLJAR_ROOTLESS; // undefined for root
const group = process.env.BELLJAR_ROOTLESS_GROUP; // what was delegated to that user, if anything was
// Of a user who has whatever there is, belljar knows.
const lacksIds = () => JSON.parse(spawnSync(belljar, ['doctor', '--json'], { env: environment() }).stdout).isolation.weaker.includes('ids');
export const isUsers = mode !== undefined;
// With one id programs are init's and the skeleton's owner: they may signal the one in vain and change copies of the other.
export const oneId = mode === 'plain' || (mode === 'own' && lacksIds());
const has = {
  cgroup: !isUsers || Boolean(group),
  memory: !isUsers || /\bmemory\b/.test(textOf(`${group}/cgroup.subtree_control`)), // a host of cgroup v1 has none to give
  ids: !oneId,
  changes: !isUsers || oneId, // of packages, which are the user's: the kernel has no id-mapped mounts for users
};
export const hasGroups = has.cgroup;

export const notForUsers = JSON.parse(readFileSync(new URL('../not_for_users.json', import.meta.url), 'utf8')); // { need: { test: reason } }
const left = new Set(Object.entries(notForUsers).flatMap(([need, tests]) => (has[need] ? [] : Object.keys(tests))));

// Declares a test unless there is nothing here that it could be about. Not a skipped test: that would be one that should have run.
export const test = (name, ...rest) => left.has(name) || declare(name, ...rest);
