// RS: pressure on what the kernel shares between sandboxes: page cache, swap, disk, directory entries, places.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';

import { ownDirectory } from '../e2e/lib/directories.mjs';
import { Server } from '../e2e/lib/stdio.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { test } from './lib/applies.mjs';
import { openJar } from './lib/jar.mjs';

const directory = ownDirectory('belljar-pressure-'); // on a disk, which has a page cache
after(() => rmSync(directory, { recursive: true, force: true }));
const jar = openJar({ env: { FILES_DIR: directory, BELLJAR_SPARE_SANDBOXES: '0' } });
const mebibyte = 1 << 20;

// What the kernel counts for each live sandbox: { limit, peak, swap }, in bytes.
function memoryGroups() {
  const number = (path) => (existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined);
  return jar.watch.cgroups().flatMap((slot) => readdirSync(slot).filter((name) => /^s\d+$/.test(name)).map((name) => join(slot, name))).flatMap((group) => {
    if (existsSync(`${group}/memory.max`)) return [{ limit: number(`${group}/memory.max`), peak: number(`${group}/memory.peak`) ?? number(`${group}/memory.current`), swap: number(`${group}/memory.swap.max`) }];
    if (!existsSync(`${group}/memory.limit_in_bytes`)) return [];
    const limit = number(`${group}/memory.limit_in_bytes`);
    const both = number(`${group}/memory.memsw.limit_in_bytes`);
    return [{ limit, peak: number(`${group}/memory.max_usage_in_bytes`), swap: both === undefined ? undefined : both - limit }];
  });
}
async function neighbourIsServed() {
  const result = await within(8_000, 'the neighbour\'s program', jar.server.run('console.log("neighbour")'));
  assert.equal(result.stdout, 'neighbour\n', result.text);
}

test('RS04 ten times its memory in the page cache stays within a sandbox\'s limit', async (t) => {
  writeFileSync(join(directory, 'holes'), '');
  truncateSync(join(directory, 'holes'), 640 * mebibyte);
  const session = await jar.session(t, { limits: { memory: 64 * mebibyte } });
  const attack = jar.inside(() => {
    const chunk = Buffer.alloc(1 << 20);
    const file = fs.openSync('files/holes');
    let total = 0;
    for (let n; (n = fs.readSync(file, chunk)) > 0;) total += n;
    return total;
  }, { in: session });
  await neighbourIsServed();
  assert.equal(await attack, 640 * mebibyte);
  const groups = memoryGroups();
  assert.ok(groups.length > 0);
  for (const { peak, limit } of groups) assert.ok(peak <= limit, `${peak} of ${limit}`);
});

test('RS08 a sandbox has no swap', async (t) => {
  await jar.session(t);
  const hostHasNone = readFileSync('/proc/swaps', 'utf8').trim().split('\n').length === 1;
  const groups = memoryGroups();
  assert.ok(groups.length > 0);
  for (const { swap } of groups) assert.ok(swap === 0 || (swap === undefined && hostHasNone), `${swap}`);
});

test('RS21 a storm of writes and fsync in a sandbox does not reach a disk', async () => {
  const attack = jar.inside(() => {
    const file = fs.openSync('/workspace/storm', 'w');
    const chunk = Buffer.alloc(1 << 20, 1);
    for (const end = Date.now() + 1000; Date.now() < end;) {
      fs.writeSync(file, chunk, 0, chunk.length, 0);
      fs.fsyncSync(file);
    }
    return /^write_bytes: (\d+)/m.exec(fs.readFileSync('/proc/self/io', 'utf8'))?.[1] ?? '0';
  });
  await neighbourIsServed();
  assert.equal(await attack, '0');
});

test('RS21 the disk traffic of a program in FILES_DIR is bounded', { todo: 'no I/O controller is used: the disk that FILES_DIR is on is not limited' }, async (t) => {
  await jar.session(t);
  assert.ok(jar.watch.cgroups().some((path) => path.includes('blkio') || existsSync(join(path, 'io.max'))));
});

test('RS30 a directory with 30,000 entries is listed within limits, by every way', async (t) => {
  const session = await jar.session(t);
  const make = 'for (1 .. 30000) { open(my $f, ">", "e$_") or die $! }';
  assert.equal(spawnSync('perl', ['-e', make], { cwd: directory }).status, 0);
  t.after(() => spawnSync('find', [directory, '-name', 'e*', '-delete']));
  const listed = await within(8_000, 'the list', jar.server.call('sandbox_list_files', { container_id: session, path: 'files', maxEntries: 5000 }));
  assert.equal(listed.entries.length, 5000);
  assert.ok(listed.more > 0);
  const resources = await within(8_000, 'the resources', jar.server.request('resources/list'));
  assert.ok(JSON.stringify(resources).length < 4 * mebibyte);
  assert.ok(resources.result.resources.length < 30_000);
});

test('RS36 100,000 missing paths leave no more in the kernel than a sandbox may have', async (t) => {
  const session = await jar.session(t, { limits: { memory: 32 * mebibyte } });
  const attack = jar.exec(session, 'perl -e \'my $x = "x" x 150; my $found = 0; for (1 .. 100000) { $found++ if -e "/tmp/$x$_" } print "found $found"\'');
  await neighbourIsServed();
  assert.match((await attack).text, /found 0/);
  for (const { peak, limit } of memoryGroups()) assert.ok(peak <= limit, `${peak} of ${limit}`);
});

test('RS37 a client that wants a thousand sandboxes gets its number, and they end without it', async (t) => {
  const own = Server.start(t, { env: { BELLJAR_MAX_SANDBOXES: '4', NODE_CONTAINER_TIMEOUT: '2', BELLJAR_SPARE_SANDBOXES: '0' } });
  await own.initialize();
  const wishes = await within(10_000, 'a thousand answers', Promise.all(Array.from({ length: 1000 }, () => own.call('sandbox_initialize'))));
  const got = wishes.filter(({ isError }) => !isError).map(({ text }) => text);
  assert.equal(got.length, 4);
  assert.match(wishes.find(({ isError }) => isError).text, /4/);
  const asleep = own.call('sandbox_exec', { container_id: got[0], commands: ['sleep 3600'], timeoutMs: 600_000 });
  await until('all to end at their time', async () => (await own.call('sandbox_list')).sandboxes.length === 0, 8_000);
  assert.equal((await within(5_000, 'the sleeper\'s end', asleep)).isError, true);
  assert.match((await own.call('sandbox_initialize')).text, /^js-sbx-/);
});
