// What is open in a program when it starts, and what its environment is, to the last entry: nothing comes along from belljar,
// the launcher or a zygote. The same for every Node.js; executed ones and copies may differ.
import { after, describe, test } from 'node:test';

import { matchesGolden } from './lib/golden.mjs';
import { belljarOutcome } from './lib/outcomes.mjs';
import { makeProgram } from './lib/programs.mjs';
import { chosenTests, serversByWay } from './lib/selection.mjs';

const servers = serversByWay();
after(() => servers.stop());

// Each number with what it leads to and its flags. Pipes, sockets and files without a name are numbered by their order:
// both ends of one have its number.
const descriptors = `import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
const objects = [];
const numbered = (target) => {
  if (!/\\d/.test(target)) return target;
  if (!objects.includes(target)) objects.push(target);
  return target.replace(/\\d+/, objects.indexOf(target) + 1);
};
for (const fd of readdirSync('/proc/self/fd').map(Number).sort((one, other) => one - other)) {
  try {
    const flags = /flags:\\t(\\d+)/.exec(readFileSync('/proc/self/fdinfo/' + fd, 'utf8'))[1];
    console.log(fd, numbered(readlinkSync('/proc/self/fd/' + fd)), flags);
  } catch {
    console.log(fd, 'is the list itself');
  }
}`;

const environment = `import { readFileSync, readlinkSync } from 'node:fs';
const lines = (file) => readFileSync('/proc/self/' + file, 'utf8').split('\\0').filter(Boolean).map((line) => '  ' + line).join('\\n');
console.log('process.env:\\n' + Object.entries(process.env).map((pair) => '  ' + pair.join('=')).join('\\n'));
console.log('environ of the kernel:\\n' + lines('environ'));
console.log('cmdline of the kernel:\\n' + lines('cmdline'));
for (const name of ['cwd', 'exe', 'root']) console.log(name + ':', readlinkSync('/proc/self/' + name));
for (const name of ['argv', 'argv0', 'execArgv', 'execPath', 'title']) console.log('process.' + name + ':', JSON.stringify(process[name]));
console.log('umask:', process.umask().toString(8));`;

// Headings and programs of each file.
const looks = {
  descriptors: { 'without input': descriptors, 'with input': `// stdin: "text"\n${descriptors}` },
  environment: { plain: environment, 'with variables and arguments': `// env: {"ZED": "z", "ALPHA": "a b", "PWD": "/"}\n// args: ["one", "--two"]\n${environment}` },
};

for (const { version, way } of chosenTests('golden')) {
  describe(`${version} ${way}`, () => {
    for (const [name, programs] of Object.entries(looks)) {
      test(name, async () => {
        let text = '';
        for (const [heading, code] of Object.entries(programs)) {
          const { outcome } = await belljarOutcome(await servers.get(way), version, makeProgram(name, '.mjs', code));
          text += `== ${heading}\n${outcome.stdout}${outcome.stderr}`;
        }
        matchesGolden(name, way, text);
      });
    }
  });
}
