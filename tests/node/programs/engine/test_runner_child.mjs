// node --test in a child finds the files of tests.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
writeFileSync('one.test.mjs', "import test from 'node:test'; test('ok', () => {}); test('bad', () => { throw new Error('no') });");
const { status, stdout } = spawnSync(process.execPath, ['--test', '--test-reporter=tap'], { encoding: 'utf8' });
console.log(status, stdout.match(/^# (tests|pass|fail|cancelled|skipped|todo) \d+$/gm));
