// NODE_V8_COVERAGE writes what was run.
// env: {"NODE_V8_COVERAGE": "/tmp/coverage"}
import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
writeFileSync('child.cjs', 'console.log(1)');
console.log(
  spawnSync(process.execPath, ['child.cjs'], { encoding: 'utf8' }).stdout,
  readdirSync('/tmp/coverage').map((name) => name.replace(/\d+/g, 'N')),
  process.env.NODE_V8_COVERAGE,
);
