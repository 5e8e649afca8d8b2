// Both drivers in one belljar: an image says whose it is. As whoever runs belljar, who may be root or (tests/docker/run) an ordinary user, with
// ids of its own or without.
import assert from 'node:assert/strict';
import { chmodSync, chownSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { cli } from '../e2e/lib/belljar.mjs';
import { connect } from '../e2e/lib/client.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { listOurs } from './lib/api.mjs';

const socket = process.env.BELLJAR_TEST_DOCKER;
const image = process.env.BELLJAR_TEST_DOCKER_IMAGE;
const user = Number(process.env.E2E_USER ?? 0);
const env = { BELLJAR_DRIVER: 'both', BELLJAR_DOCKER_HOST: `unix://${socket}`, BELLJAR_DOCKER_IMAGES: image, BELLJAR_DOCKER_WARM: '1' };
const start = (more = {}) => connect({ env: { ...env, ...more } });

const gone = (what) => until(what, async () => (await listOurs(socket)).length === 0, 60_000);
const dialers = () => readdirSync('/proc').filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8') === 'belljar-dialer\n';
  } catch {
    return false; // it has ended meanwhile
  }
});

// As an installation does it: a group may use the engine, here one of the user's own.
function letUserIn() {
  for (let directory = dirname(socket); directory !== '/var/tmp'; directory = dirname(directory)) chmodSync(directory, 0o711);
  chownSync(socket, 0, Number(process.env.BELLJAR_TEST_GROUP));
  chmodSync(socket, 0o660);
}

let client;
before(async () => {
  if (user !== 0) letUserIn();
  client = await start();
});
after(async () => {
  await client?.close();
  // A client that ends waits some seconds and no longer for its server: what that left the next start removes.
  assert.equal((await cli(['run', '-e', '1'], { env })).code, 0);
  await gone('the last container to go');
  assert.deepEqual(dialers(), [], 'a process is left');
});

describe('both drivers', () => {
  test('an image says which one makes the sandbox', async () => {
    const native = await client.run('console.log(process.version)');
    assert.equal(native.isolation.boundary, 'native');
    const engine = await client.run('console.log(process.version, process.getuid())', { image });
    assert.match(engine.isolation.boundary, /^(Docker Engine|Podman) /);
    assert.match(engine.text, user === 0 ? / 1610612735$/m : new RegExp(` ${user}$`, 'm'));
  });

  test('sessions of each live side by side', async (t) => {
    for (const more of [{}, { image }]) {
      const session = await client.session(t, more);
      const first = await session.run('import fs from "node:fs"; fs.writeFileSync("files/note.txt", "kept", { mode: 0o600 }); console.log(1)');
      assert.ok(first.changes.some((line) => line.includes('note.txt')), first.text);
      assert.match((await session.call('sandbox_read_file', { path: 'files/note.txt' })).text, /kept/);
      assert.match((await session.exec('cat files/note.txt')).text, /kept/);
      await session.stop();
    }
  });

  test('only images that are offered are had from the engine', async () => {
    const refused = await client.call('run_js_ephemeral', { code: '1', image: 'localhost/other:1' });
    assert.match(refused.text, /not offered/);
    const nothing = await cli(['run', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_IMAGES: 'node:*' } });
    assert.match(nothing.stderr, /docker-images offers only node:\* images/);
  });

  test('programs of both reach what the policy allows, each in its way', async (t) => {
    const place = createServer((question, answer) => answer.end('reached'));
    await new Promise((resolve) => place.listen(0, '127.0.0.1', resolve));
    t.after(() => place.close());
    const open = await start({ BELLJAR_NETWORK: 'none', BELLJAR_MAX_NETWORK: 'host' });
    t.after(() => open.close());
    const code = `console.log(Object.keys((await import('node:os')).networkInterfaces()).join(), await fetch('http://10.0.2.2:${place.address().port}/').then((answer) => answer.text(), () => 'nothing'))`;
    for (const more of [{}, { image }]) {
      assert.match((await open.run(code, more)).text, /^lo nothing$/m);
      assert.match((await open.run(code, { ...more, network: 'host' })).text, /^\S*lo\S* reached$/m);
    }
  });

  test('belljar itself has given its rights up, and cannot use the engine\'s socket by itself', () => {
    const own = readFileSync(`/proc/${client.pid}/status`, 'utf8');
    assert.match(own, /^CapBnd:\t0+$/m);
    assert.match(own, /^NoNewPrivs:\t1$/m);
    assert.match(own, new RegExp(`^Uid:\\t${user || 1610612735}\\t`, 'm'));
    const [dialer, ...others] = dialers();
    assert.deepEqual(others, []);
    assert.deepEqual(readdirSync(`/proc/${dialer}/fd`), ['0', '1', '2', '3'], 'it holds what it does not need');
  });

  test('the files directory is shared where containers can write to it as its owner', async (t) => {
    const directory = mkdtempSync('/var/tmp/belljar-both-');
    t.after(() => rmSync(directory, { recursive: true, force: true }));
    if (user === 0) {
      const refused = await cli(['run', '-e', '1'], { env: { ...env, FILES_DIR: directory } });
      assert.match(refused.stderr, /with both drivers, belljar of root cannot give files directories/);
      return;
    }
    chownSync(directory, user, user);
    writeFileSync(`${directory}/given.txt`, 'given');
    const sharing = await start({ FILES_DIR: directory });
    t.after(() => sharing.close());
    for (const [name, more] of [['native', {}], ['engine', { image }]]) {
      const result = await sharing.run(`import fs from "node:fs"; fs.writeFileSync("files/${name}.txt", fs.readFileSync("files/given.txt", "utf8") + " and made")`, more);
      assert.ok(result.changes.some((line) => line.includes(`${name}.txt`)), result.text);
      assert.equal(readFileSync(`${directory}/${name}.txt`, 'utf8'), 'given and made');
    }
  });

  test('kill -9 leaves nothing', async () => {
    const victim = await start();
    await victim.run('1', { image });
    process.kill(victim.pid, 'SIGKILL');
    await until('its dialer to end', () => dialers().length === 1, 10_000);
    const next = await start();
    await next.run('1', { image });
    await next.close();  // see after() for what is left
  });

  test('an engine that is not there is told at the start', async () => {
    const refused = await cli(['run', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_HOST: 'unix:///run/nobody.sock' } });
    assert.match(refused.stderr, /no container engine answers at unix:\/\/\/run\/nobody\.sock/);
    const doctor = await cli(['doctor'], { env: { ...env, BELLJAR_DOCKER_HOST: 'unix:///run/nobody.sock' } });
    assert.equal(doctor.code, 1);
    assert.match(doctor.stdout, /engine-connection +required +missing/);
  });
});
