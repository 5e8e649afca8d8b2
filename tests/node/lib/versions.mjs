// The Node.js versions that the battery is run with.
import { execFileSync } from 'node:child_process';

import { belljar, environment } from '../../e2e/lib/belljar.mjs';

const usual = ['22', '24', '26'];

const installed = () => JSON.parse(execFileSync(belljar, ['runtime', 'list', '--json'], { env: environment(), encoding: 'utf8' }));

const newestFirst = (one, other) => other.version.localeCompare(one.version, 'en', { numeric: true });

// { version, prefix } of the newest installed version that each of the wanted words is or begins. A word that somebody gave
// and that nothing fits is an error; of the usual ones those that are there are taken, and if there is none, the newest.
export function wantedVersions(words) {
  const all = installed().sort(newestFirst);
  const fitting = (word) => all.find(({ version }) => version === word || version.startsWith(`${word}.`));
  const missing = words.find((word) => !fitting(word));
  if (missing) throw new Error(`belljar has no Node.js ${missing}; get it by: belljar runtime install ${missing}`);
  if (words.length > 0) return words.map(fitting);
  const found = usual.map(fitting).filter(Boolean);
  return found.length > 0 ? found : all.slice(0, 1);
}
