// What a program finds, kept in golden/NAME.KIND.golden. `tests/node/run --update` writes what it finds; a change must be
// explained in review.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const updating = process.env.NODE_GOLDEN_UPDATE === '1';

// Copies are the same, whenever they were made; what is executed is not if it had to wait for its program.
const kinds = { exec: 'exec', fork: 'copy', 'parked-fork': 'copy', 'parked-exec': 'parked' };
const kindOf = (way) => kinds[way];

export function matchesGolden(name, way, found) {
  const file = `golden/${name}.${kindOf(way)}.golden`;
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url));
  if (updating) writeFileSync(path, found);
  assert.deepEqual(found.split('\n'), existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [], `differs from ${file}`);
}
