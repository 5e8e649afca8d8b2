// A hostile program that stays in a session while the server starts the next one there.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { within } from '../e2e/lib/wait.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';

const jar = openJar();
const run = (session, code = 'console.log("ran")', args = {}) => jar.server.call('run_js', { container_id: session, code, timeoutMs: 1000, ...args });
const stop = (session) => jar.server.call('sandbox_stop', { container_id: session });
// Leaves a Perl program behind, which begins when those who started it are gone: it must not hit them.
const leave = (session, perl) =>
  jar.exec(session, `perl -e 'my @starters = grep { $_ > 0 } ($$, getppid); if (fork == 0) { open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null"); setpgrp;
    select(undef, undef, undef, 0.001) while grep { kill 0, $_ } @starters; ${perl} }'`);

test('a FIFO in the place of the source file does not hold up the next program', async (t) => {
  const session = await jar.session(t);
  await jar.exec(session, 'rm -f /workspace/index.js; mkfifo /workspace/index.js');
  const result = await within(4_000, 'an answer after 1 s of time limit', run(session));
  assert.equal(result.stdout, 'ran\n', result.text);
});

test('the time limit holds when the next program is stopped before it is executed', async (t) => {
  const session = await jar.session(t);
  await leave(session, 'while (1) { for my $p ($$ + 1 .. $$ + 60) { kill "STOP", $p } }');
  for (let i = 0; i < 8; i++) await within(4_000, `an answer to run ${i} after 0.3 s of time limit`, run(session, 'console.log("ran")', { timeoutMs: 300 }));
  assert.match((await within(2_000, 'the sandbox to stop', stop(session))).text, /removed|stopped/i);
});

test('a program that ends at once is not taken for one that never started', async (t) => {
  const session = await jar.session(t);
  const results = await Promise.all(Array.from({ length: 40 }, () => jar.exec(session, 'true')));
  const failed = results.filter(({ isError }) => isError).map(({ text }) => text);
  assert.deepEqual([...new Set(failed)], [], `${failed.length} of ${results.length} failed`);
});

test('NS21 PS06 the process that joins cannot be looked into, at any moment before it is the program', async (t) => {
  const session = await jar.session(t);
  // Tries, as fast as it can, everything of every pid that is to come; notes what opened and is not the program itself.
  await leave(session, `my %own = map { $_ => 1 } ($$); while (1) { for my $p ($$ + 1 .. $$ + 25) { for my $f ("mem", "environ", "maps", "exe", "auxv") {
    next unless open(my $h, "<", "/proc/$p/$f"); my $c = ""; if (open(my $k, "<", "/proc/$p/comm")) { $c = <$k> } open(my $o, ">>", "/tmp/opened"); print $o "$f $c"; close $o } } }`);
  for (let i = 0; i < 12; i++) await run(session);
  const { text } = await jar.exec(session, 'sort -u /tmp/opened 2>/dev/null; echo end');
  assert.doesNotMatch(text, /belljar/, 'a process with the launcher\'s name was opened');
});

test('NS12 what the server writes for the next program goes to a new file, whatever waits in its place', async (t) => {
  const targets = ['/proc/self/exe', '/proc/1/mem', '/usr/bin/true', '/etc/passwd', '/proc/self/mem', '/dev/full', 'index.js', '/proc/self/attr/current', ...Array.from({ length: 8 }, (_, i) => `/proc/self/fd/${62 + i}`)];
  const session = await jar.session(t);
  for (const target of targets) {
    await jar.exec(session, `ln -sfn ${target} /workspace/index.js`);
    const result = await within(4_000, `an answer with index.js -> ${target}`, run(session));
    assert.equal(result.stdout, 'ran\n', `${target}: ${result.text}`);
  }
});

test('a workspace that is closed, gone or full, and no process left, are clear errors that a stop ends', async (t) => {
  const spoil = {
    'go to /workspace': 'chmod 0 /workspace',
    'No space left': 'dd if=/dev/zero of=/tmp/fill bs=1M 2>/dev/null; true',
    'Is a directory': 'rm -rf /workspace/* && mkdir /workspace/index.js',
    'unavailable|thread|killed': 'perl -e \'while (defined(my $p = fork)) { if ($p == 0) { open(STDOUT, ">/dev/null"); open(STDERR, ">/dev/null"); sleep 50; exit } }\'',
  };
  for (const [message, command] of Object.entries(spoil)) {
    const session = await jar.session(t);
    await jar.exec(session, command);
    const result = await within(4_000, `an answer after ${command}`, run(session));
    assert.equal(result.isError, true, command);
    assert.match(result.text, new RegExp(message), command);
    await within(2_000, 'the sandbox to stop', stop(session));
  }
});

test('NS20 PT02 two programs of one session cannot look into each other, and a stop ends both', async (t) => {
  const session = await jar.session(t);
  await leave(session, 'sleep 50');
  const seen = await jar.inside(() => {
    const own = fs.readdirSync('/proc/self/task').map(Number);
    const others = Array.from({ length: 200 }, (_, i) => i + 2).filter((pid) => !own.includes(pid) && attempt(() => process.kill(pid, 0)).outcome === 'ok');
    return { others: others.length, ...tryToRead(others.flatMap((pid) => ['mem', 'environ', 'maps'].map((name) => `/proc/${pid}/${name}`))) };
  }, { in: session });
  assert.ok(seen.others >= 1, 'the other program can be signalled: it is the same user\'s');
  delete seen.others;
  onlyThese(seen, refusals);
});

test('PT06 a sandbox that is stopped while programs start in it leaves nothing and confuses nobody', async (t) => {
  const witness = await jar.session(t);
  for (let i = 0; i < 5; i++) {
    const session = await jar.session(t);
    const starts = Array.from({ length: 4 }, () => run(session).catch((error) => ({ isError: true, text: error.message })));
    const stopped = stop(session);
    const results = await within(5_000, 'all starts to be answered', Promise.all(starts));
    await stopped;
    for (const { isError, stdout, text } of results) assert.ok(isError || stdout === 'ran\n', text);
    assert.equal((await run(witness)).stdout, 'ran\n');
  }
});
