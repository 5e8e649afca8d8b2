// The posture of a program in its sandbox equals posture.json, thread by thread and mount by mount.
import { readdirSync, readlinkSync } from 'node:fs';
import { test } from 'node:test';

import { oneId } from './lib/applies.mjs';
import { matchesGolden } from './lib/golden.mjs';
import { openJar } from './lib/jar.mjs';
import { collect, normalise, shellCommand } from './lib/posture.mjs';

const jar = openJar();
const hostNamespaces = Object.fromEntries(readdirSync('/proc/self/ns').map((name) => [name, readlinkSync(`/proc/self/ns/${name}`)]));

async function posture(t, args) {
  const session = await jar.session(t, args);
  const seen = await jar.inside(collect, { in: session });
  const shell = await jar.exec(session, shellCommand);
  const found = normalise(seen, shell.text, hostNamespaces);
  // With one id there is none for a root of the sandbox. Whoever has one all the same has it twice now.
  if (oneId) for (const map of [found.uidMap, found.gidMap]) map.unshift('1 from 0');
  return `${JSON.stringify(found, null, 1)}\n`;
}

test('CP01 NS05 NS06 DV01 CP04 the posture of a program is the one in posture.json', async (t) => {
  matchesGolden('posture.json', await posture(t));
});

test('CP01 SC08 it is the same for every image, and for the second program of a session', async (t) => {
  for (const image of ['node:22', 'node:24', 'node:26']) {
    const result = await jar.server.call('sandbox_initialize', { image });
    if (result.isError) {
      t.diagnostic(`${image} is not there: ${result.text}`);
      continue;
    }
    await jar.server.call('sandbox_stop', { container_id: result.text });
    matchesGolden('posture.json', await posture(t, { image }));
  }
});
