// Programs are copies of a Node.js (node-start) only where the check of copies has passed; its result is kept.
import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { cli } from './lib/belljar.mjs';
import { descendants } from './lib/proc.mjs';
import { Server } from './lib/stdio.mjs';
import { until } from './lib/wait.mjs';

const telemetryTitle = 'Telemetry:\n';
const data = mkdtempSync(join(tmpdir(), 'belljar-copies-'));
const record = join(data, 'copies.json');
after(() => rmSync(data, { recursive: true }));

// A Node.js of our own: that of others may be linked or touched while this runs, and is then another.
let image;
let checked; // the record, after a check
before(async () => {
  const { stdout } = await cli(['runtime', 'list', '--json']);
  const { version, prefix } = JSON.parse(stdout).findLast(({ version }) => Number(version.split('.')[0]) >= 22);
  mkdirSync(join(data, 'runtimes', version, 'bin'), { recursive: true });
  copyFileSync(join(prefix, 'bin/node'), join(data, 'runtimes', version, 'bin/node'));
  image = `node:${version}`;
});

const env = (way) => ({ BELLJAR_DATA_DIR: data, BELLJAR_NODE_START: way, BELLJAR_LOG_LEVEL: 'info' });
// How many checks the server made.
const checksOf = ({ stderr }) => stderr.match(/copies of Node\.js .*: works, in \d+ ms/g)?.length ?? 0;

async function start(t, way) {
  const server = Server.start(t, { env: env(way) });
  await server.initialize();
  return server;
}

// How the server started a program.
async function startOf(server, args = {}) {
  const { content, stdout } = await server.run('console.log(6 * 7)', { image, ...args });
  assert.equal(stdout, '42\n');
  const { text } = content.find((block) => block.text?.startsWith(telemetryTitle));
  return JSON.parse(text.slice(telemetryTitle.length)).start;
}

const programsOf = ({ pid }) => descendants(pid).filter(({ commandLine }) => commandLine.includes('/workspace/index.'));

const doctor = async (...args) => {
  const { code, stdout, stderr } = await cli(['doctor', ...args], { env: { BELLJAR_DATA_DIR: data } });
  assert.equal(code, 0, stderr);
  return stdout;
};
const copies = async (...args) => JSON.parse(await doctor('--json', ...args)).copies;

// The record with another verdict, as if the check had come to it.
const saying = (verdict) => {
  const { files, nodes } = JSON.parse(checked);
  return JSON.stringify({ files, nodes: nodes.map((node) => ({ ...node, ...verdict })) });
};

describe('the check of copies', () => {
  test('is what doctor makes if told to, and shows', async () => {
    const [unknown, ...others] = await copies();
    assert.deepEqual(others, []);
    assert.deepEqual(unknown, { node: image.slice(5), state: 'unknown', checked: '', program: '', reason: '' });
    assert.match(await doctor(), /unknown +not checked yet/);
    const [{ state, checked: date, reason }] = await copies('--check-copies');
    assert.equal(state, 'works', reason);
    assert.ok(Math.abs(Date.parse(date) - Date.now()) < 600_000, date);
    assert.match(await doctor(), new RegExp(`works +checked ${date}`));
    assert.equal((await copies())[0].checked, date);
    checked = readFileSync(record, 'utf8');
  });

  test('is not made again: the first program is a copy', async (t) => {
    writeFileSync(record, checked);
    const server = await start(t, 'fork');
    assert.equal(await startOf(server), 'fork');
    await server.stop();
    assert.equal(checksOf(server), 0, server.stderr);
    assert.equal(readFileSync(record, 'utf8'), checked);
  });

  // Ahead, if that is wanted.
  for (const [way, expected] of Object.entries({ fork: ['exec'], parked: ['parked-exec'], auto: ['exec', 'parked-exec'] })) {
    test(`that failed means that programs are executed: ${way}`, async (t) => {
      writeFileSync(record, saying({ state: 'differs', program: 'workers', reason: 'line 1 is another' }));
      const server = await start(t, way);
      for (const round of [1, 2, 3]) {
        const found = await startOf(server);
        assert.ok(expected.includes(found), `round ${round}: ${found}`);
      }
      await server.stop();
      const warnings = server.stderr.split('\n').filter((line) => line.includes(' warning '));
      assert.equal(warnings.length, 1, server.stderr);
      assert.match(warnings[0], /executing Node\.js [\d.]+: .*, workers: line 1 is another/);
      assert.equal(checksOf(server), 0, server.stderr);
    });
  }

  test('that failed is shown, and doctor can make it again', async () => {
    writeFileSync(record, saying({ state: 'differs', program: 'workers', reason: 'line 1 is another' }));
    assert.match(await doctor(), /differs +checked .*; program workers: line 1 is another/);
    assert.equal((await copies('--check-copies'))[0].state, 'works');
    assert.equal((await copies())[0].state, 'works');
  });

  for (const [what, text] of [
    ['another machine', () => saying({ machine: 'Linux 1.0 sparc' })],
    ['a damaged record', () => checked.slice(0, -20)],
  ]) {
    test(`of ${what} does not count: callers wait for a new one`, async (t) => {
      writeFileSync(record, text());
      const server = await start(t, 'fork');
      assert.equal(await startOf(server), 'fork');
      await server.stop();
      assert.equal(checksOf(server), 1, server.stderr);
      assert.equal((await copies())[0].state, 'works');
    });
  }

  test('is made once, whoever waits for it', async (t) => {
    rmSync(record, { force: true });
    const server = await start(t, 'fork');
    const calls = ['300m', '400m', '500m'].map((memory) => startOf(server, { limits: { memory } }));
    assert.deepEqual(await Promise.all(calls), ['fork', 'fork', 'fork']);
    await server.stop();
    assert.equal(checksOf(server), 1, server.stderr);
  });

  test('is made in the background by default, after the first call', async (t) => {
    rmSync(record, { force: true });
    const server = await start(t, undefined);
    assert.equal(await startOf(server), 'exec');
    let way = 'exec';
    for (const end = Date.now() + 90_000; way === 'exec' && Date.now() < end; ) way = await startOf(server);
    assert.match(way, /fork$/);
    await server.stop();
    assert.equal(checksOf(server), 1, server.stderr);
    assert.equal((await copies())[0].state, 'works');
  });

  test('works without being kept', async (t) => {
    rmSync(record, { force: true });
    mkdirSync(record);
    t.after(() => rmSync(record, { recursive: true }));
    for (const round of [1, 2]) {
      const server = await start(t, 'fork');
      assert.equal(await startOf(server), 'fork', `round ${round}`);
      await server.stop();
      assert.equal(checksOf(server), 1, server.stderr);
      assert.doesNotMatch(server.stderr, / (warning|error) /);
    }
  });

  for (const [when, reached] of [
    ['at its beginning', (server) => server.request('ping')], // answered after the call was taken
    ['while it runs a program', (server) => until('a program of the check', () => programsOf(server).length > 0, 60_000)],
  ]) {
    test(`ends with the server: ${when}`, async (t) => {
      rmSync(record, { force: true });
      const server = await start(t, 'fork');
      server.send({ id: 'never', method: 'tools/call', params: { name: 'run_js_ephemeral', arguments: { code: '1', image } } });
      await reached(server);
      const { code } = await server.stop();
      assert.equal(code, 0, server.stderr);
      assert.doesNotMatch(server.stderr, / (warning|error) /);
      assert.equal((await copies())[0].state, 'unknown');
    });
  }
});
