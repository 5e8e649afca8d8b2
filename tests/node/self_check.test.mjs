// The battery can fail: what differs between two programs is found by it, whatever it is.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { differences } from './lib/differences.mjs';
import { bareOutcome, belljarOutcome, hostOutcome, unexpected } from './lib/outcomes.mjs';
import { allPrograms, makeProgram } from './lib/programs.mjs';
import { Siblings } from './lib/siblings.mjs';
import { wantedVersions } from './lib/versions.mjs';
import { serverFor } from './lib/ways.mjs';

const [{ version, prefix }] = wantedVersions([]);
let server;
before(async () => (server = await serverFor('exec')));
after(() => server?.stop());

const bare = (code, ...more) => bareOutcome(server, version, makeProgram('bare', '.mjs', code, ...more));
const ours = async (code, ...more) => (await belljarOutcome(server, version, makeProgram('ours', '.mjs', code, ...more))).outcome;

describe('the comparison', () => {
  const pairs = {
    stdout: ["console.log('one')", "console.log('other')"],
    'white space in stdout': ["console.log('one ')", "console.log('one')"],
    stderr: ["console.error('one')", "console.error('other')"],
    exitCode: ['process.exit(3)', 'process.exit(4)'],
    'the signal': ["process.kill(process.pid, 'SIGTERM')", "process.kill(process.pid, 'SIGKILL')"],
    'a signal and its number': ["process.kill(process.pid, 'SIGTERM')", 'process.exit(143)'],
    'an argument': ['// args: ["x"]\nconsole.log(process.argv)', '// args: ["y"]\nconsole.log(process.argv)'],
    'a variable': ['// env: {"X":"x"}\nconsole.log(process.env)', 'console.log(process.env)'],
    'the input': [
      "// stdin: \"x\"\nconsole.log((await import('node:fs')).readFileSync(0, 'utf8'))",
      "console.log((await import('node:fs')).readFileSync(0, 'utf8'))",
    ],
  };
  for (const [what, [one, other]] of Object.entries(pairs)) {
    test(`finds a difference of ${what}`, async () => {
      const reference = await bare(one);
      assert.notEqual(differences(await ours(other), reference), '');
      assert.equal(differences(await ours(one), reference), '', 'and none where there is none');
    });
  }

  test('finds a difference of a file beside the program', async () => {
    const code = "import text from './text.mjs'; console.log(text)";
    const files = (text) => ({ 'text.mjs': `export default '${text}';\n` });
    const reference = await bare(code, files('one'));
    assert.match(
      differences(await ours(code, files('other')), reference),
      /^stdout differs in line 1\n {2}belljar: "other"\n {2}bare: {4}"one"$/,
    );
    assert.equal(differences(await ours(code, files('one')), reference), '');
  });

  test('finds a difference to the host', async () => {
    const program = makeProgram('where', '.mjs', 'console.log(process.cwd())');
    assert.match(differences(await bareOutcome(server, version, program), await hostOutcome(prefix, program)), /"\/workspace"/);
  });
});

describe('a program', () => {
  test('that fails without having said so is found', async () => {
    const program = makeProgram('mistake', '.mjs', 'no_such_thing()');
    assert.match(unexpected(program, await bareOutcome(server, version, program)), /ended with 1, and its header says 0/);
  });

  test('that warns without having said so is found', async () => {
    const program = makeProgram('warning', '.mjs', "process.emitWarning('careful')");
    assert.match(unexpected(program, await bareOutcome(server, version, program)), /"stderr: no"/);
  });

  test('may say how it ends', async () => {
    const program = makeProgram('end', '.mjs', "// exit: SIGTERM\nprocess.kill(process.pid, 'SIGTERM')");
    assert.equal(unexpected(program, await bareOutcome(server, version, program)), '');
  });
});

test('a value that two programs have is found', async () => {
  const siblings = new Siblings("console.log('same=1'); console.log('other=' + process.hrtime.bigint())");
  await siblings.add(server, version, 'exec', 3);
  assert.deepEqual([siblings.runs, siblings.repeated], [3, ['same=1', 'same=1']]);
});

test('there are as many programs as the README says, and each says in its first line what it shows', () => {
  const programs = allPrograms();
  assert.ok(programs.length > 240, `${programs.length}`);
  for (const { name, code } of programs) assert.match(code, /^\/\/ (?![a-z]+: )/, name);
});
