// No attack of the threat model is forgotten.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { notForUsers } from './lib/applies.mjs';
import { attacks, names, notApplicable, tested } from './lib/attacks.mjs';

const counts = tested();

test('every attack has a test, or a reason why it has none', () => {
  assert.deepEqual(Object.keys(attacks).filter((id) => !counts[id] && !notApplicable[id]), []);
});

test('no attack has both', () => {
  assert.deepEqual(Object.keys(notApplicable).filter((id) => counts[id]), []);
});

test('ids in names of tests and among the reasons are those of attacks', () => {
  assert.deepEqual([...Object.keys(counts), ...Object.keys(notApplicable)].filter((id) => !attacks[id]), []);
});

test('tests that are not for users exist', () => {
  const all = new Set(names());
  assert.deepEqual(Object.values(notForUsers).flatMap((tests) => Object.keys(tests)).filter((name) => !all.has(name)), []);
});
