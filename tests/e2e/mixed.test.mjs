// Fifty calls of every kind at once: fifty right answers, and nothing is left of them.
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';

import { descendants, mounts } from './lib/proc.mjs';
import { startRegistry } from './lib/registry.mjs';
import { connect, list } from './lib/packages_client.mjs';
import { until } from './lib/wait.mjs';

const directory = mkdtempSync(`${tmpdir()}/belljar-mixed-`);
const data = process.env.BELLJAR_DATA_DIR ?? join(process.env.XDG_DATA_HOME ?? `${homedir()}/.local/share`, 'belljar');
let registry;
let client;
before(async () => {
  registry = await startRegistry();
  client = await connect({ npm_config_userconfig: registry.npmrc(join(directory, 'npmrc')), BELLJAR_SPARE_SANDBOXES: '0' });
});
after(async () => {
  await client?.close();
  await registry?.stop();
  rmSync(directory, { recursive: true });
});

const answered = (result, expected) => assert.equal(result.stdout, expected, result.text);
const failed = (result, expected) => {
  assert.equal(result.isError, true, result.text);
  assert.match(result.text, expected);
};

// Each gets its number, makes one call (or a few that belong together), and checks the answer.
const kinds = {
  'a program': async (n) => answered(await client.run(`console.log(${n} * ${n})`), `${n * n}\n`),
  'a program with much output': async (n) => {
    const { stdout } = await client.run(`for (let i = 0; i < 20000; i++) console.log('${n}:' + i)`);
    assert.equal(stdout, Array.from({ length: 20000 }, (_, i) => `${n}:${i}\n`).join(''));
  },
  'a program with input': async (n) => {
    const code = `process.stdin.pipe(process.stdout)`;
    answered(await client.run(code, {}, { stdin: `in ${n}`, env: { N: String(n) } }), `in ${n}`);
  },
  'a program that throws': async (n) =>
    failed(await client.run(`console.log('before ${n}'); throw new Error('thrown ${n}')`), new RegExp(`thrown ${n}[^]*before ${n}|before ${n}[^]*thrown ${n}`)),
  'a program without end': async (n) => {
    const result = await client.run('for (;;);', {}, { timeoutMs: 500 + n });
    failed(result, new RegExp(`ETIMEDOUT: the program did not end within ${500 + n} ms`));
    assert.equal(result.timedOut, true);
  },
  'a program with a package': async (n) => {
    const version = ['1.0.0', '1.2.0', '1.2.3'][n % 3];
    answered(await client.run(`import v from 'own-types'; console.log(v, ${n})`, { 'own-types': version }), `${version} ${n}\n`);
  },
  'a package that does not exist': async (n) =>
    failed(await client.run('1', { [`missing-${n}`]: '1' }), new RegExp(`no package "missing-${n}"`)),
  'TypeScript': async (n) => answered(await client.run(`const n: number = ${n}; console.log(n)`, {}, { language: 'typescript' }), `${n}\n`),
  'files': async (n) => {
    const result = await client.run(`import fs from 'node:fs'; fs.writeFileSync('files/${n}.txt', 'x'.repeat(${n}))`);
    assert.deepEqual(result.files.map(({ path, change, size }) => [path, change, size]), [[`${n}.txt`, 'created', n]]);
  },
  'a session': async (n) => {
    const { text: id } = await client.call('sandbox_initialize', {});
    const [run, exec] = await Promise.all([
      client.call('run_js', { container_id: id, code: `import v from 'no-types'; console.log(v, ${n})`, dependencies: list({ 'no-types': '*' }) }),
      client.call('sandbox_exec', { container_id: id, commands: [`echo ${n} > kept`, 'cat kept', 'exit 0'] }),
    ]);
    answered(run, `no-types ${n}\n`);
    assert.match(exec.text, new RegExp(`^${n}$`, 'm'));
    assert.equal((await client.call('sandbox_stop', { container_id: id })).text, `Container ${id} removed.`);
    failed(await client.call('run_js', { container_id: id, code: '1' }), /no such sandbox/);
  },
  'files of a session': async (n) => {
    const { text: id } = await client.call('sandbox_initialize', {});
    await client.call('sandbox_write_files', { container_id: id, files: [{ path: 'lib/n.js', content: `export default ${n};` }] });
    answered(await client.call('run_js', { container_id: id, code: `import n from './lib/n.js'; console.log(n)` }), `${n}\n`);
    assert.match((await client.call('sandbox_read_file', { container_id: id, path: 'lib/n.js' })).text, new RegExp(`default ${n};`));
    await client.call('sandbox_stop', { container_id: id });
  },
  'types': async () => {
    const { packages } = await client.call('get_dependency_types', { dependencies: [{ name: 'own-types' }, { name: 'no-types' }] });
    assert.deepEqual(packages.map(({ hasTypes }) => hasTypes), [true, false]);
  },
  'a search': async () => {
    const { packages } = await client.call('search_npm_packages', { searchTerm: 'own-types' });
    assert.equal(packages[0].name, 'own-types');
  },
  'a bad argument': async (n) =>
    failed(await client.run('1', { a: `file:${n}` }), new RegExp(`dependencies\\[0\\]\\.version" is "file:${n}"`)),
  'a call that is given up': async (n) => {
    const aborter = new AbortController();
    const onprogress = () => aborter.abort();
    await assert.rejects(client.run(`console.log('up ${n}'); setTimeout(() => {}, 60_000)`, {}, { timeoutMs: 60_000 }, { signal: aborter.signal, onprogress }));
  },
};

test('fifty calls at once get fifty right answers', async (t) => {
  const names = Object.keys(kinds);
  const started = performance.now();
  const outcomes = await Promise.allSettled(Array.from({ length: 50 }, (_, n) => kinds[names[n % names.length]](n + 1)));
  const wrong = outcomes.flatMap(({ reason }, n) => (reason ? [`${names[n % names.length]} (${n + 1}): ${reason.message}`] : []));
  assert.deepEqual(wrong, []);
  t.diagnostic(`${Math.round(performance.now() - started)} ms`);
});

test('nothing is left of them', async () => {
  assert.deepEqual((await client.call('sandbox_list', {})).sandboxes, []);
  const others = () => descendants(client.pid).filter(({ name }) => !/^belljar-(launch|keep)/.test(name));
  await until('the sandboxes’ processes to end', () => others().length === 0);
  assert.equal(mounts(), 0);
  assert.deepEqual(readdirSync(join(data, 'downloads')), []);
  assert.deepEqual(readdirSync(join(data, 'runtimes')).filter((name) => !/^(\d+\.\d+\.\d+|\.lock)$/.test(name)), []);
});
