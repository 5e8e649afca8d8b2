// Expected values kept in files. `tests/escape/run --update` writes what it finds; a change must be explained in review.
import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const updating = process.env.ESCAPE_UPDATE === '1';

// Lines that are in one text only: "- expected" and "+ found".
function difference(expected, found) {
  const count = (lines) => lines.reduce((map, line) => map.set(line, (map.get(line) ?? 0) + 1), new Map());
  const [old, now] = [expected, found].map((text) => count(text.split('\n')));
  const only = (these, others, mark) =>
    [...these].filter(([line, times]) => times > (others.get(line) ?? 0)).map(([line]) => `${mark} ${line}`);
  return [...only(old, now, '-'), ...only(now, old, '+')].join('\n');
}

export function matchesGolden(name, found) {
  const path = fileURLToPath(new URL(`../${name}`, import.meta.url));
  if (updating) return writeFileSync(path, found);
  const expected = existsSync(path) ? readFileSync(path, 'utf8') : '';
  if (expected === found) return;
  assert.fail(`differs from ${name} (- expected, + found); if that is meant, run tests/escape/run --update:\n${difference(expected, found)}`);
}
