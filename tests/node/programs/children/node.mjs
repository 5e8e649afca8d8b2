// A Node.js as a child: its arguments, options, environment and descriptors.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
writeFileSync(
  'child.cjs',
  `const fs = require('node:fs');
  console.log(process.argv, process.execArgv, process.execPath, process.ppid > 0, process.env, process.title);
  console.log(fs.readdirSync('/proc/self/fd').length, fs.readFileSync('/proc/self/status', 'utf8').match(/^Sig(Blk|Ign|Cgt).*$/gm));`,
);
for (const options of [
  [],
  ['--no-warnings', '--expose-gc'],
  ['--input-type=module', '--eval', 'console.log(import.meta.url, process.argv, process.execArgv)'],
]) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [...options, ...(options.length === 3 ? [] : ['child.cjs', 'argument'])], {
    encoding: 'utf8',
  });
  console.log(stdout, stderr, status);
}
