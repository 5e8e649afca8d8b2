// No program has anything of another's: what is random in one is not in the next, and what one leaves behind in its process
// nobody finds.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';

import { belljarOutcome } from './lib/outcomes.mjs';
import { makeProgram } from './lib/programs.mjs';
import { chosenTests, serversByWay } from './lib/selection.mjs';
import { Siblings } from './lib/siblings.mjs';

const servers = serversByWay();
after(() => servers.stop());

// Changes whatever a program can change of its process and its language.
const untidy = `import { writeFileSync } from 'node:fs';
Object.prototype.polluted = 1;
Array.prototype.map = null;
globalThis.left = 'left';
process.title = 'left';
process.umask(0);
process.chdir('/');
process.env.LEFT = 'left';
Error.stackTraceLimit = 0;
process.on('SIGTERM', () => {});
process.exitCode = 0;
writeFileSync('/tmp/left', '');
console.log('done');`;

const tidy = `import { readdirSync, readFileSync } from 'node:fs';
const masks = readFileSync('/proc/self/status', 'utf8').match(/^Sig(Blk|Ign|Cgt).*$/gm);
console.log({}.polluted, typeof [].map, globalThis.left, process.title, process.umask(), process.cwd(), process.env.LEFT);
console.log(Error.stackTraceLimit, process.eventNames().includes('SIGTERM'), process.exitCode, masks, readdirSync('/tmp'));`;

// Copies of one Node.js might have its random states in common; tests/node/siblings makes ten thousand of them.
const runs = { exec: 6, fork: 150, 'parked-fork': 150, 'parked-exec': 6 };

for (const { version, way } of chosenTests('fresh')) {
  const run = async (code) => {
    const { outcome } = await belljarOutcome(await servers.get(way), version, makeProgram('fresh', '.mjs', code));
    assert.equal(outcome.exitCode, 0, outcome.stderr);
    return outcome.stdout;
  };

  describe(`${version} ${way}`, () => {
    test('random values are never the same twice', { timeout: 300_000 }, async () => {
      const siblings = new Siblings();
      const count = runs[way];
      await siblings.add(await servers.get(way), version, way, count);
      assert.deepEqual(siblings.repeated, []);
      assert.deepEqual([...new Set(siblings.byName.values())], [count]);
      assert.equal(siblings.byName.size, 14);
    });

    test('nothing is left of a program for the next', async () => {
      const before = await run(tidy);
      await Promise.all([run(untidy), run(untidy)]);
      assert.equal(await run(tidy), before);
      assert.deepEqual(await Promise.all([run(tidy), run(untidy), run(tidy)]), [before, 'done\n', before]);
    });
  });
}
