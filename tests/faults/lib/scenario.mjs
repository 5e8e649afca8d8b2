// What a client does with one belljar from its start to its end, and what must hold whatever fails meanwhile.
import assert from 'node:assert/strict';

import { Server } from '../../e2e/lib/stdio.mjs';
import { within } from '../../e2e/lib/wait.mjs';

const patience = 10_000; // for an answer
const morePatience = 30_000; // for one that a zygote has to start for

// What a program finds about its own confinement. A fault may end a run, but never weaken it.
const posture = `
import fs from 'node:fs';
const read = (name) => fs.readFileSync('/proc/self/' + name, 'utf8');
const status = read('status').split('\\n').filter((line) => /^(Uid|Gid|Groups|Cap|NoNewPrivs|Seccomp)/.test(line));
const mounts = read('mountinfo').trim().split('\\n').map((line) => line.split(' ').slice(3).join(' ').replace(/(uid|gid|dir)=[^,]*/g, ''));
const limits = read('limits').split('\\n');
const cpus = read('status').match(/Cpus_allowed:(.*)/)[1].replace(/[^1-9a-f]/g, '').length;
const descriptors = fs.readdirSync('/proc/self/fd').length;
const variables = Object.entries(process.env).map((pair) => pair.join('='));
const numbers = [descriptors + ' descriptors', cpus + ' processors'];
console.error([...status, ...mounts, ...limits, ...fs.readdirSync('/proc').filter((name) => !/^\\d/.test(name)), ...variables, ...numbers].join('\\n'));
`;
const hello = `import { writeFileSync } from 'node:fs'; writeFileSync('files/made.txt', 'made'); console.log('hello');${posture}`;

const startOf = (result) => /"start":"([\w-]+)"/.exec(result.text)[1];

// What is executed after all, because no copy could be made, is compared with what is executed.
function checkPosture(result, seen) {
  const start = startOf(result);
  seen.starts.add(start);
  seen.posture[start] ??= result.stderr;
  const [now, before] = [result.stderr.split('\n'), seen.posture[start].split('\n')];
  const changes = [...before.filter((line) => !now.includes(line)).map((line) => `- ${line}`), ...now.filter((line) => !before.includes(line)).map((line) => `+ ${line}`)];
  assert.ok(changes.length === 0 && now.length === before.length, `the sandbox is not as it is without the fault:\n${changes.join('\n')}`);
}

// Steps in order: what to call, and what a result that is no error must have. `seen` is what earlier steps saw.
const steps = [
  {
    tool: 'run_js_ephemeral',
    args: () => ({ code: hello }),
    check: (result, seen) => {
      assert.equal(result.stdout, 'hello\n', 'the output is whole');
      assert.ok(result.files.some(({ path }) => path.endsWith('made.txt')), 'the new file is reported');
      checkPosture(result, seen);
    },
  },
  { tool: 'sandbox_initialize', args: () => ({}), check: (result, seen) => assert.match((seen.id = result.text), /^js-sbx-/) },
  {
    tool: 'run_js',
    args: ({ id }) => ({ container_id: id, code: `console.log(6 * 7);${posture}`, stdin: 'input' }),
    check: (result, seen) => {
      assert.equal(result.stdout, '42\n', 'the output is whole');
      checkPosture(result, seen);
    },
  },
  {
    tool: 'sandbox_exec',
    args: ({ id }) => ({ container_id: id, commands: ['echo one', 'head -c 11 index.js'] }),
    check: (result) => assert.match(result.text, /one\n+console\.log/),
  },
  {
    tool: 'run_js',
    args: ({ id }) => ({ container_id: id, code: 'for (;;);', timeoutMs: 100 }),
    failure: /ETIMEDOUT/,
  },
  { tool: 'sandbox_stop', args: ({ id }) => ({ container_id: id }), check: (result) => assert.match(result.text, /removed/) },
];

// With packages that are not there yet: what is found, fetched, built and mounted. Of the first set there are enough
// packages for a tree that the second one is built upon.
const packages = (names) => names.map((name) => ({ name, version: '1' }));
const withPackages = (names, expected) => ({
  tool: 'run_js_ephemeral',
  args: () => ({ code: `${names.map((name) => `import ${name} from '${name}';`).join(' ')} console.log([${names}].join(' '));`, dependencies: packages(names) }),
  check: (result, seen) => {
    assert.equal(result.stdout, `${expected}\n`, 'the packages are there');
    seen.starts.add(startOf(result));
  },
});
const days = {
  usual: steps,
  packages: [withPackages(['trunk'], 'leaf 0 leaf 7'), withPackages(['trunk', 'bird'], 'leaf 0 leaf 7 bird')],
  scripts: [withPackages(['nest'], 'egg of a changed bird')],
};

// What a registry must have for that, as tiny_registry.mjs takes it.
export const forest = [
  ...Array.from({ length: 8 }, (_, i) => ({ name: `leaf-${i}`, files: { 'index.js': `module.exports = 'leaf ${i}'` } })),
  {
    name: 'trunk',
    manifest: { dependencies: Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`leaf-${i}`, '1'])), bin: 'cli.js' },
    files: { 'index.js': "module.exports = require('leaf-0') + ' ' + require('leaf-7')", 'cli.js': '#!/usr/bin/env node' },
  },
  { name: 'bird', files: { 'index.js': "module.exports = 'bird'" } },
  {
    // Its script makes, changes, replaces and removes something.
    name: 'nest',
    manifest: { dependencies: { bird: '1' }, scripts: { install: `mkdir made && echo "module.exports = 'egg'" > made/egg.js && ln -s made/egg.js egg.js && echo "module.exports = 'changed bird'" > ../bird/index.js && rm spare.js` } },
    files: { 'index.js': "module.exports = require('./egg.js') + ' of a ' + require('bird')", 'spare.js': '' },
  },
];

const launcherIsLost = /launcher has ended|reach the launcher|sandbox was stopped/;

// One answer, or null if the server ended and said why.
async function answerOf(server, step, seen) {
  try {
    return await within(seen.patience, `an answer to ${step.tool}`, server.call(step.tool, step.args(seen)));
  } catch (error) {
    if (error.code !== undefined && error.message) return { isError: true, text: error.message }; // of the protocol
    if (!/^belljar ended/.test(error.message)) throw error;
    return null;
  }
}

// Goes through the steps; a step that failed is tried once more and must work then, for there is only one fault.
async function useTools(server, seen, trouble) {
  for (const step of days[seen.day]) {
    for (let tries = 1; ; ++tries) {
      const result = await answerOf(server, step, seen);
      if (result === null) return;
      if (step.failure?.test(result.text)) break;
      assert.ok(result.isError || !step.failure, `${step.tool} fails as it should`);
      if (!result.isError) {
        step.check(result, seen);
        break;
      }
      trouble.push(`${step.tool}: ${result.text}`);
      assert.match(result.text, /\w+ \w+/, `${step.tool} fails with words`);
      if (launcherIsLost.test(result.text)) return;
      if (step.tool === 'sandbox_stop') break; // it is stopped, or there is nothing to stop
      assert.ok(tries < 2, `${step.tool} works again after one fault: ${result.text}`);
    }
  }
}

// Starts a server, uses it and ends it. `reference` has the posture of a run without faults, by how it was started, and gets
// what it does not have yet; `day` is what is done, `end` the signal that may end it; `onUse` is called once it has been used, `killAll` ends what a broken one left. The result:
// { starts: how programs were started, trouble: errors that were reported, code, stderr }.
export async function play({ env, reference, day = 'usual', end = null, onUse, killAll }) {
  const server = Server.start(null, { env });
  const seen = { day, posture: reference, starts: new Set(), patience: env.BELLJAR_NODE_START === 'exec' ? patience : morePatience };
  const trouble = [];
  try {
    const first = await within(patience, 'an answer to initialize', server.initialize()).catch((error) => {
      if (!/^belljar ended/.test(error.message)) throw error;
    });
    if (first) {
      assert.equal(first.result?.serverInfo?.name, 'belljar', JSON.stringify(first));
      await useTools(server, seen, trouble);
    }
    onUse();
    server.child.stdin.end();
    const { code, signal } = await within(patience, 'the end of belljar', server.exited);
    if (signal !== null && signal === end) return { starts: seen.starts, trouble, signal, stderr: server.stderr };
    assert.equal(signal, null, `belljar was killed by ${signal}: ${server.stderr}`);
    if (code !== 0) assert.match(server.stderr, /\w+ \w+/, `belljar ended with ${code} and says why`);
    if (!first) assert.notEqual(code, 0, 'a server that could not serve does not claim success');
    return { starts: seen.starts, trouble, code, stderr: server.stderr };
  } finally {
    server.child.kill('SIGKILL'); // if it is still there
    killAll(); // or what outlives it keeps its stderr open
    await server.exited;
  }
}
