// RS: a sandbox takes what it may, and then it gets an error or dies; its neighbours and the host do not notice.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';

import { marker } from '../e2e/lib/belljar.mjs';
import { memory, processesWith } from '../e2e/lib/proc.mjs';
import { until, within } from '../e2e/lib/wait.mjs';
import { test } from './lib/applies.mjs';
import { openJar } from './lib/jar.mjs';

const jar = openJar();
const mebibyte = 1 << 20;
const small = { limits: { memory: 96 * mebibyte } };
const gone = (word) => until('its processes to end', () => processesWith(word).length === 0, 3_000);
// How long a neighbour waits for the shortest program while `attack` goes on.
async function neighbour(attack) {
  const started = performance.now();
  const result = await within(8_000, 'the neighbour\'s program', jar.server.run('console.log("neighbour")'));
  assert.equal(result.stdout, 'neighbour\n', result.text);
  await attack;
  return performance.now() - started;
}

test('RS01 a program that takes all memory is killed, and the result says why', async () => {
  const result = await jar.server.run('const all = []; for (;;) all.push(Buffer.alloc(1 << 20, 1))', small);
  assert.equal(result.isError, true);
  assert.match(result.text, /memory/i);
});

test('RS02 every place that can be written is bounded together', async () => {
  const seen = await jar.inside(() => {
    const written = {};
    const chunk = Buffer.alloc(1 << 20, 1);
    for (const place of ['/dev/shm', '/tmp', '/workspace', '/home/node', '/var/tmp', '/run']) {
      written[place] = 0;
      attempt(() => { for (const file = fs.openSync(`${place}/fill`, 'w'); ;) written[place] += fs.writeSync(file, chunk); });
    }
    return written;
  }, { limits: { memory: 256 * mebibyte, disk: 32 * mebibyte } });
  const total = Object.values(seen).reduce((sum, bytes) => sum + bytes, 0);
  assert.ok(total > 16 * mebibyte && total <= 32 * mebibyte, JSON.stringify(seen));
});

test('RS02 what is written counts as memory, so a disk larger than the memory does not help', async () => {
  const result = await jar.server.run('import fs from "node:fs"; const file = fs.openSync("/dev/shm/fill", "w"); for (const chunk = Buffer.alloc(1 << 20, 1);;) fs.writeSync(file, chunk)', { limits: { memory: 96 * mebibyte, disk: 512 * mebibyte } });
  assert.match(result.text, /memory/i);
});

test('RS02 files in memory that have no place count as memory', async (t) => {
  const session = await jar.session(t, { limits: { memory: 96 * mebibyte } });
  // At most 240 MB, so as not to harm this host.
  const perl = 'my $name = "x\\0"; my $bytes = "x" x 1048576; for (1 .. 240) { open(my $file, ">&=", syscall(319, $name, 0)) or die $!; syswrite($file, $bytes); push @all, $file } print "kept";';
  const { results } = await jar.exec(session, `perl -e '${perl}'`);
  assert.equal(results[0].oomKilled, true, results[0].stdout + results[0].stderr);
});

test('RS05 RS06 bytes in sockets and pipes count as memory', async (t) => {
  const limit = 96 * mebibyte;
  const session = await jar.session(t, { limits: { memory: limit } });
  // Connections to itself whose reader never reads: the data is nowhere but in the kernel. At most 240 MB, so as not to harm this host.
  const perl = `use IO::Socket::INET; my $l = IO::Socket::INET->new(Listen => 100, LocalAddr => "127.0.0.1") or die; my (@all, $total); my $bytes = "x" x 65536;
    for (1 .. 60) { my $c = IO::Socket::INET->new(PeerAddr => "127.0.0.1", PeerPort => $l->sockport) or last; push @all, $c, $l->accept; $c->blocking(0); while (defined(my $n = syswrite($c, $bytes))) { $total += $n } } print "queued $total\\n";`;
  const result = await jar.exec(session, `perl -e '${perl.replaceAll('\n', ' ')}'`);
  const queued = Number(/queued (\d+)/.exec(result.text)?.[1] ?? 0);
  assert.ok(queued <= limit, `${queued} bytes are queued in TCP by a sandbox with ${limit} bytes of memory`);
});

test('RS06 pipes of the largest size do not get past the memory limit', async () => {
  const perl = 'my (@p, $t); for (1 .. 400) { pipe(my $r, my $w) or last; fcntl($w, 1031, 1048576); fcntl($w, 4, 2048); while (defined(my $n = syswrite($w, "x" x 65536))) { $t += $n } push @p, $r, $w } print $t';
  const result = await jar.server.run(`import { spawnSync } from 'node:child_process'; console.log(String(spawnSync('perl', ['-e', ${JSON.stringify(perl)}]).stdout))`, { ...small, timeoutMs: 8000 });
  assert.ok(result.isError || Number(result.stdout) < 96 * mebibyte, result.text);
});

test('RS09 RS33 endless loops on all threads end with their time, and a neighbour gets its share', async () => {
  const attack = jar.server.run(`import { Worker } from 'node:worker_threads'; for (let i = 0; i < 6; i++) new Worker('for (;;);', { eval: true }); setInterval(() => {}, 0); for (;;);`, { timeoutMs: 1500 });
  const waited = await neighbour(attack);
  assert.match((await attack).text, /ETIMEDOUT/);
  assert.ok(waited < 6_000, `${waited} ms`);
});

test('RS12 threads and processes count alike, and the limit holds', async () => {
  const seen = await jar.inside(async () => {
    const perl = 'my $n = 0; while (defined(my $p = fork)) { if ($p == 0) { sleep 20; exit } $n++ } print $n; kill "KILL", 0';
    const alone = Number(String(cp.spawnSync('perl', ['-e', `setpgrp; $| = 1; ${perl}`]).stdout));
    const worker = Array.from({ length: 8 }, () => new Worker('setInterval(() => {}, 1000)', { eval: true }));
    await Promise.all(worker.map((one) => new Promise((resolve) => one.once('online', resolve))));
    const together = Number(String(cp.spawnSync('perl', ['-e', `setpgrp; $| = 1; ${perl}`]).stdout));
    process.nextTick(() => process.exit());
    return { alone, together };
  }, { limits: { pids: 64 } });
  assert.ok(seen.alone > 16 && seen.alone <= 64, `${seen.alone}`);
  assert.ok(seen.together <= seen.alone - 8, `${seen.together} beside eight workers, ${seen.alone} alone`);
});

test('RS13 RS14 a fork bomb and ten thousand zombies end with their sandbox', async () => {
  const word = marker();
  const bomb = await jar.server.run(`import { spawnSync } from 'node:child_process'; spawnSync('perl', ['-e', 'fork while 1', '${word}'])`, { timeoutMs: 700 });
  assert.equal(bomb.isError, true);
  await gone(word);
  const zombies = await jar.server.run(`import { spawnSync } from 'node:child_process'; console.log(String(spawnSync('perl', ['-e', 'my $n = 0; for (1 .. 10000) { my $p = fork; last unless defined $p; exit if $p == 0; $n++ } print $n', '${word}']).stdout))`);
  assert.ok(Number(zombies.stdout) <= 256, `${zombies.stdout} zombies at one time`);
  await gone(word);
});

test('RS16 RS24 a result comes when the program ends, whoever holds its output, and input that nobody reads blocks nobody', async () => {
  const word = marker();
  const started = performance.now();
  const result = await jar.server.run(`import { spawn } from 'node:child_process'; spawn('sleep', ['60', '${word}'].slice(0, 1), { argv0: '${word}', stdio: 'inherit', detached: true }).unref(); console.log('done'); process.exit()`, { stdin: 'x'.repeat(500_000) });
  assert.equal(result.stdout, 'done\n', result.text);
  assert.ok(performance.now() - started < 5_000);
  await gone(word);
});

test('RS17 RS18 RS20 RS29 descriptors, files, sparse files and deep directories end with an error, and all of it can be removed', async () => {
  const seen = await jar.inside(() => {
    const fds = [];
    const descriptors = attempt(() => { for (;;) fds.push(fs.openSync('/dev/null')); }).outcome;
    fds.forEach((fd) => fs.closeSync(fd));
    const sparse = outcomes({ truncate: () => fs.truncateSync('/tmp/probe', 8 * 2 ** 40), largest: () => fs.truncateSync('/tmp/probe', Number.MAX_SAFE_INTEGER) });
    let depth = 0;
    const deep = attempt(() => { for (process.chdir('/tmp'); depth < 3000; depth++) { const name = 'd'.repeat(200); fs.mkdirSync(name); process.chdir(name); } }).outcome;
    let files = 0;
    process.chdir('/');
    const inodes = attempt(() => { for (;; files++) fs.closeSync(fs.openSync(`/workspace/f${files}`, 'w')); }).outcome;
    return { descriptors, count: fds.length, ...sparse, deep, files, inodes };
  }, { timeoutMs: 20_000, limits: { memory: 512 * mebibyte } });
  assert.equal(seen.descriptors, 'EMFILE');
  assert.ok(seen.count < 4096, `${seen.count}`);
  assert.match(seen.truncate, /^E(FBIG|NOENT)$/);
  assert.match(seen.inodes, /^E(NOSPC|DQUOT)$/);
  assert.ok(seen.files < 65536, `${seen.files}`);
});

test('RS22 output without end is cut, and the server answers others meanwhile', async () => {
  const before = memory(jar.server.pid, 'VmRSS');
  const attack = jar.server.run('import fs from "node:fs"; const chunk = Buffer.alloc(1 << 20, 120); for (let i = 0; i < 500; i++) for (let at = 0; at < chunk.length;) at += fs.writeSync(1, chunk, at)', { timeoutMs: 8000 });
  await within(1_000, 'a ping during the flood', jar.server.request('ping'));
  await neighbour(attack);
  const result = await attack;
  assert.ok(result.truncated || /ETIMEDOUT/.test(result.text), result.text.slice(0, 200));
  const grown = memory(jar.server.pid, 'VmRSS') - before;
  assert.ok(grown < 32 * mebibyte, `the server grew by ${grown} bytes`);
});

test('RS25 a crash writes no core file anywhere', async () => {
  const result = await jar.server.run('process.abort()');
  assert.match(result.text, /SIGABRT/);
  const seen = await jar.inside(() => {
    cp.spawnSync('sh', ['-c', 'ulimit -c unlimited; cd /workspace; kill -SEGV $$']);
    return { files: fs.readdirSync('/workspace').filter((name) => name.startsWith('core')), raised: cp.spawnSync('sh', ['-c', 'ulimit -c 100']).status };
  });
  assert.deepEqual(seen.files, []);
  assert.notEqual(seen.raised, 0, 'the limit cannot be raised');
});

test('RS25 a crash does not make the host run its core handler', async () => {
  const seen = await jar.inside(() => /^Max core file size\s+(\d+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1]);
  const piped = readFileSync('/proc/sys/kernel/core_pattern', 'utf8').startsWith('|');
  assert.ok(seen === '1', `the limit is ${seen}; the host's pattern ${piped ? 'is' : 'is not'} a pipe`);
});

test('RS26 a sandbox that takes all inotify instances it can leaves some for its neighbour and for the host', async (t) => {
  const [one, two] = [await jar.session(t), await jar.session(t)];
  const one_more = 'my $r = syscall(294, 0); print $r < 0 ? "none: $!\\n" : "one\\n"';
  await jar.exec(one, 'perl -e \'if (fork == 0) { open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null"); 1 while syscall(294, 0) >= 0; open(F, ">/tmp/taken"); close F; sleep 20 }\'; while [ ! -e /tmp/taken ]; do sleep 0.01; done');
  const neighbour = (await jar.exec(two, `perl -e '${one_more}'`)).text.trim();
  const host = String(spawnSync('perl', ['-e', one_more]).stdout).trim();
  await jar.server.call('sandbox_stop', { container_id: one });
  assert.deepEqual({ neighbour, host }, { neighbour: 'one', host: 'one' });
});

test('RS34 a program that ignores SIGXFSZ gets the error instead', async () => {
  const result = await jar.server.run(`import { spawnSync } from 'node:child_process'; console.log(String(spawnSync('sh', ['-c', 'trap "" XFSZ; head -c 40m /dev/zero > /tmp/big; stat -c %s /tmp/big']).stdout))`, { limits: { disk: 8 * mebibyte, memory: 256 * mebibyte } });
  assert.ok(Number(result.stdout) <= 8 * mebibyte, result.text);
});
