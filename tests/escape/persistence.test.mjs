// PT: what could outlive a sandbox or a server, and whom it would serve next.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';

import { ownDirectory } from '../e2e/lib/directories.mjs';
import { hasGroups, test } from './lib/applies.mjs';
import { dataDirectory } from './lib/host.mjs';
import { Jar, openJar } from './lib/jar.mjs';

const runtime = ownDirectory('belljar-persistence-'); // stands in for /run/user/UID
after(() => rmSync(runtime, { recursive: true, force: true }));
const jar = openJar({ env: { XDG_RUNTIME_DIR: runtime, BELLJAR_SPARE_SANDBOXES: '0' } });

test('PT05 freed memory and disk come back as zeros, in the same sandbox and in the next', async (t) => {
  const word = 'left-behind-'.repeat(10);
  const leave = (word) => {
    for (const place of ['/tmp', '/dev/shm', '/workspace']) {
      fs.writeFileSync(`${place}/old`, word.repeat(1 << 16));
      fs.unlinkSync(`${place}/old`);
    }
    return 1;
  };
  const look = (word) => {
    const half = word.slice(0, 12);
    return ['/tmp', '/dev/shm', '/workspace'].filter((place) => {
      const made = cp.spawnSync('fallocate', ['-l', '16M', `${place}/new`]).status === 0;
      fs.writeFileSync(`${place}/sparse`, '');
      fs.truncateSync(`${place}/sparse`, 8 << 20);
      const found = [made ? 'new' : 'sparse', 'sparse'].map((name) => fs.readFileSync(`${place}/${name}`)).some((bytes) => !bytes.equals(Buffer.alloc(bytes.length)));
      for (const name of ['new', 'sparse']) fs.rmSync(`${place}/${name}`, { force: true });
      return found || Buffer.allocUnsafeSlow(64 << 20).includes(half);
    });
  };
  const session = await jar.session(t);
  await jar.inside(leave, { in: session, data: word });
  assert.deepEqual(await jar.inside(look, { in: session, data: 'another-word-that-nobody-wrote' }), []);
  await jar.inside(leave, { data: word });
  assert.deepEqual(await jar.inside(look, { data: word }), []);
});

test('PT08 a server that starts after a killed one has no sandbox of it', async (t) => {
  const first = new Jar();
  t.after(() => first.server.child.kill('SIGKILL'));
  await first.start({ env: { XDG_RUNTIME_DIR: runtime } });
  const id = (await first.server.call('sandbox_initialize')).text;
  process.kill(first.server.pid, 'SIGKILL');
  await first.watch.checkGone();
  const next = new Jar();
  t.after(() => next.server.child.kill('SIGKILL'));
  await next.start({ env: { XDG_RUNTIME_DIR: runtime } });
  assert.deepEqual((await next.server.call('sandbox_list')).sandboxes, []);
  assert.match((await next.server.call('sandbox_exec', { container_id: id, commands: ['true'] })).text, /no such sandbox/i);
  await next.server.stop();
  await next.watch.checkGone();
});

test('PT09 names of cgroups and user ids are one sandbox\'s at a time', async (t) => {
  const groups = () => new Set(jar.watch.cgroups().flatMap((path) => readdirSync(path).filter((name) => /^s\d+$/.test(name))));
  const ids = () => jar.watch.sandboxed().inits.map((one) => /^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${one.split(' ')[0]}/status`, 'utf8'))[1]);
  const ever = new Set();
  for (let round = 0; round < 5; round++) {
    const before = groups();
    const sessions = await Promise.all(Array.from({ length: 4 }, () => jar.session(t)));
    const live = ids();
    assert.equal(new Set(live).size, live.length, `user ids: ${live}`);
    for (const name of groups()) {
      if (before.has(name)) continue;
      assert.ok(!ever.has(name), `${name} was another sandbox's`);
      ever.add(name);
    }
    await Promise.all(sessions.map((id) => jar.server.call('sandbox_stop', { container_id: id })));
  }
  if (hasGroups) assert.ok(ever.size >= 20);
});

test('PT10 to the user ids of sandboxes the server\'s files, socket and processes are closed', { skip: process.getuid() !== 0 && 'needs root to become them' }, async (t) => {
  await jar.session(t);
  const id = Number(/^Uid:\t(\d+)/m.exec(readFileSync(`/proc/${jar.watch.sandboxed().inits[0].split(' ')[0]}/status`, 'utf8'))[1]) + 1;
  const folder = join(runtime, readdirSync(runtime)[0]);
  const paths = [folder, join(dataDirectory, 'downloads'), jar.watch.lock, ...[jar.server.pid, jar.watch.launcher].flatMap((pid) => ['environ', 'mem', 'maps', 'fd', 'root', 'io'].map((name) => `/proc/${pid}/${name}`))];
  const perl = 'for (@ARGV) { if (opendir(my $d, $_)) { print "$_\\n" } elsif (open(my $f, "<", $_)) { print "$_\\n" if defined(getc $f) } print "$_ (to write)\\n" if open(my $w, ">>", $_) }';
  const { stdout, status } = spawnSync('setpriv', [`--reuid=${id}`, `--regid=${id}`, '--clear-groups', 'perl', '-e', perl, ...paths], { encoding: 'utf8', cwd: '/' });
  assert.equal(status, 0);
  assert.equal(stdout, '');
  assert.equal(statSync(folder).mode & 0o077, 0);
});
