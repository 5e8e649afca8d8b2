// belljar with containers that have a kernel of their own, through its tools, beside a private engine (with_engine.mjs).
import assert from 'node:assert/strict';
import { chownSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { cli } from '../e2e/lib/belljar.mjs';
import { connect } from '../e2e/lib/client.mjs';
import { freePort } from '../e2e/lib/ports.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { listOurs, must } from './lib/api.mjs';
import { killsAWholeRun, sharesFiles } from './lib/behaviours.mjs';

const socket = process.env.BELLJAR_TEST_DOCKER;
const runtime = process.env.BELLJAR_TEST_DOCKER_OWN_KERNEL;
const data = mkdtempSync('/var/tmp/belljar-own-kernel-');
Object.assign(process.env, { TEST_DOCKER: `unix://${socket}`, TEST_DOCKER_IMAGE: process.env.BELLJAR_TEST_DOCKER_IMAGE });
const env = { BELLJAR_DATA_DIR: data, BELLJAR_DOCKER_WARM: '1', BELLJAR_DOCKER_RUNTIME: runtime };
const start = (more = {}) => connect({ env: { ...env, ...more } });
const volumes = async () => JSON.parse(await must(socket, 'GET', '/v1.41/volumes')).Volumes ?? [];

let client;
before(async () => (client = await start()));
after(async () => {
  await client?.close();
  assert.equal((await cli(['run', '-e', '1'], { env })).code, 0);
  await until('the last container to go', async () => (await listOurs(socket)).length === 0, 60_000);
  assert.deepEqual(await volumes(), [], 'volumes are left');
  assert.deepEqual(readdirSync(`${data}/docker`), ['lock'], 'directories of sandboxes are left');
  rmSync(data, { recursive: true, force: true });
});

describe('tools', () => {
  test('run a program on another kernel, and say what stood around it', async () => {
    const result = await client.run('import os from "node:os"; console.log("hello from", process.getuid(), process.cwd(), "on", os.release())');
    assert.match(result.text, /hello from 1000 \/workspace on /);
    assert.ok(!result.text.includes(readFileSync('/proc/sys/kernel/osrelease', 'utf8').trim()), 'it is the kernel of the host');
    assert.match(result.isolation.boundary, new RegExp(`^Docker Engine 20\\.10\\.\\S+, ${runtime}$`));
  });

  test('report how programs fail', async () => {
    const failed = await client.call('run_js_ephemeral', { code: 'console.error("no"); process.exit(3)' });
    assert.equal(failed.exitCode, 3);
    const late = await client.call('run_js_ephemeral', { code: 'setInterval(() => {}, 1000)', timeoutMs: 500 });
    assert.equal(late.timedOut, true, late.text);
    const large = await client.call('run_js_ephemeral', { code: 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));', limits: { memory: '128m' } });
    assert.equal(large.oomKilled, true, large.text);
    const loud = await client.call('run_js_ephemeral', { code: 'let all = ""; for (let i = 0; i < 2e5; ++i) all += `line ${i}\\n`; process.stdout.write(all)' });
    assert.match(loud.text, /line 199999/);
  });

  test('keep a session with its files, and see each other\'s changes', async (t) => {
    const session = await client.session(t);
    const first = await session.run('import fs from "node:fs"; fs.writeFileSync("files/note.txt", "kept"); console.log(1)');
    assert.ok(first.changes.some((line) => line.includes('note.txt')), first.text);
    const read = await session.call('sandbox_read_file', { path: 'files/note.txt' });
    assert.match(read.text, /kept/);
    await session.call('sandbox_write_files', { files: [{ path: 'files/given.txt', content: 'given' }] });
    assert.match((await session.exec('cat files/given.txt')).text, /given/);
  });

  test('kill a whole run, and leave the rest of the session alone', async (t) => killsAWholeRun(await client.session(t)));

  test('publish a port', async (t) => {
    const port = await freePort();
    const session = await client.session(t, { port });
    await session.run(`import http from 'node:http'; http.createServer((q, a) => a.end('served'.repeat(1e5))).listen(${port});`, { listenOnPort: port });
    for (let i = 0; i < 5; ++i) assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'served'.repeat(1e5));
  });

  test('share the files directory with its owner', async (t) => {
    const files = `${data}/shared`;
    mkdirSync(files);
    chownSync(files, 1000, 1000);
    const sharing = await start({ FILES_DIR: files });
    t.after(() => sharing.close());
    await sharesFiles(sharing, files);
  });
});

describe('attacks', () => {
  test('a program that multiplies ends with its sandbox, and with nothing else', async (t) => {
    const session = await client.session(t, { limits: { pids: 32 } });
    const bomb = 'import { spawn } from "node:child_process"; for (let i = 0; i < 500; ++i) spawn("/bin/sleep", ["1000"]).on("error", () => {}); setInterval(() => {}, 1e3)';
    await session.call('run_js', { code: bomb, timeoutMs: 5000 });
    assert.match((await client.run('console.log("works")')).text, /works/);
  });

  test('a program cannot be anybody else, or somewhere else', async () => {
    const result = await client.run(`import fs from 'node:fs';
      const attempt = (what) => { try { what(); return 'worked'; } catch (error) { return error.code; } };
      console.log([attempt(() => process.setuid(0)), attempt(() => fs.writeFileSync('/etc/passwd', '')), attempt(() => fs.writeFileSync('/.belljar/host/x', '')),
        attempt(() => fs.writeFileSync('/.belljar/agent', ''))].join(' '));`);
    assert.match(result.text, /^EPERM (EROFS|EACCES) (EROFS|EACCES) (EROFS|ETXTBSY|EACCES)$/m);
  });

  // gVisor lets programs kill the first process.
  test('a program that kills the agent ends its own sandbox, and is told so', async (t) => {
    const session = await client.session(t);
    const other = await client.session(t);
    await session.call('run_js', { code: 'process.kill(1, "SIGKILL"); setInterval(() => {}, 1e3)' });
    assert.match((await session.call('run_js', { code: '1' })).text, /container has ended/);
    assert.match((await other.run('console.log("still here")')).text, /still here/);
  });
});

test('kill -9 of belljar ends its containers at once, and the next start removes them', async (t) => {
  const list = async () => (await listOurs(socket)).map(({ Labels, State }) => ({ run: Labels['belljar.run'], State }));
  const others = (await list()).map(({ run }) => run);
  const victim = await start();
  await victim.succeed('sandbox_initialize');
  const [{ run: its }] = (await list()).filter(({ run }) => !others.includes(run));
  process.kill(victim.pid, 'SIGKILL');
  await until('the containers to end', async () => (await list()).every(({ run, State }) => run !== its || State !== 'running'), 60_000);
  const next = await start();
  t.after(() => next.close());
  await until('the orphans to go', async () => (await list()).every(({ run }) => run !== its), 60_000);
});
