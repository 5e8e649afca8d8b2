// Compares the random values of thousands of programs. See tests/node/siblings.
import { parseArgs } from 'node:util';

import { Siblings } from './lib/siblings.mjs';
import { wantedVersions } from './lib/versions.mjs';
import { serverFor, ways } from './lib/ways.mjs';

const { values: options, positionals } = parseArgs({ allowPositionals: true, options: {
  count: { type: 'string', default: '10000' }, way: { type: 'string', multiple: true },
} });
const count = Number(options.count);
const copied = options.way ?? ways.filter((way) => way !== 'exec');
const unknown = copied.find((way) => !ways.includes(way));
if (unknown || !(count > 0)) throw new Error(unknown ? `there is no way "${unknown}", only ${ways.join(', ')}` : '--count is a number');

let failed = 0;
for (const { version } of wantedVersions(positionals)) {
  for (const way of copied) {
    const server = await serverFor(way);
    const siblings = new Siblings();
    const started = performance.now();
    const seconds = () => `${((performance.now() - started) / 1000).toFixed(0)} s`;
    await siblings.add(server, version, way, count, () => {
      if (siblings.runs % 1000 === 0) console.log(`  ${siblings.runs} runs, ${seconds()}`);
    });
    await server.stop();
    const incomplete = [...siblings.byName].filter(([, values]) => values !== count);
    const isGood = siblings.repeated.length === 0 && incomplete.length === 0;
    if (!isGood) failed++;
    console.log(`Node.js ${version}, ${way}: ${siblings.runs} runs, ${siblings.byName.size} values each, ${siblings.repeated.length} that another run had, too (${seconds()}): ${isGood ? 'ok' : 'FAILED'}`);
    for (const line of [...siblings.repeated.slice(0, 20), ...incomplete]) console.log(`  ${line}`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;
