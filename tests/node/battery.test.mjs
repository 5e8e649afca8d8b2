// Every program behaves in belljar as it does when Node.js is executed plainly in the same surroundings, whichever way
// belljar starts it; those that do not depend on their surroundings behave as on the host.
import assert from 'node:assert/strict';
import { availableParallelism } from 'node:os';
import { after, describe, test } from 'node:test';

import { differences } from './lib/differences.mjs';
import { bareOutcome, belljarOutcome, hostOutcome, unexpected } from './lib/outcomes.mjs';
import { allPrograms } from './lib/programs.mjs';
import { serversByWay, versions, wanted } from './lib/selection.mjs';
import { isComparable, wayOf, ways } from './lib/ways.mjs';

const programs = allPrograms();
// Programs wait now and then: for the disk, a timer, another process.
const concurrency = 2 * availableParallelism();

const servers = serversByWay();
after(() => servers.stop());

const plainly = async (version, program) => bareOutcome(await servers.get('exec', 'reference'), version, program);

// References are the same for all ways.
const references = new Map();
function reference(version, program) {
  const key = `${version} ${program.name}`;
  if (!references.has(key)) references.set(key, plainly(version, program));
  return references.get(key);
}

const failIf = (reason) => {
  if (reason !== '') assert.fail(reason);
};

for (const { version, prefix } of versions) {
  const fitting = programs.filter(({ needs }) => Number.parseInt(version, 10) >= needs);
  const chosen = (place) => fitting.filter(({ name }) => wanted(version, place, name));

  for (const way of ways) {
    describe(`${version} ${way}`, { concurrency }, () => {
      for (const program of chosen(way).filter((each) => isComparable(each, way))) {
        test(program.name, async () => {
          const [bare, { outcome, start }] = await Promise.all([
            reference(version, program),
            belljarOutcome(await servers.get(way), version, program),
          ]);
          failIf(differences(outcome, bare));
          failIf(unexpected(program, outcome));
          if (start !== undefined) assert.equal(start, wayOf(program, way), 'the way that belljar started it');
        });
      }
    });
  }

  describe(`${version} host`, { concurrency }, () => {
    for (const program of chosen('host').filter(({ host }) => host === 'yes')) {
      test(program.name, async () => {
        failIf(differences(await reference(version, program), await hostOutcome(prefix, program)));
      });
    }
  });
}
