// ZY: what a sandbox kept in reserve, or a second run, could carry over. Every program is a fresh execution; these hold by
// construction and are checked all the same.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { networkInterfaces } from 'node:os';

import { tryToConnect } from '../e2e/lib/ports.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { test } from './lib/applies.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';

const jar = openJar({ env: { ZY_CANARY: 'of the server' } });

test('ZY01 ZY02 ZY04 random numbers, ids and addresses differ from run to run', async () => {
  const seen = [];
  for (let n = 0; n < 4; n++) {
    seen.push(await jar.inside(async () => {
      const crypto = await import('node:crypto');
      const maps = fs.readFileSync('/proc/self/maps', 'utf8');
      const base = (name) => new RegExp(`^(\\w+)-.*${name}`, 'm').exec(maps)?.[1] ?? name;
      return { random: Math.random(), more: Math.random(), uuid: crypto.randomUUID(), int: crypto.randomInt(2 ** 47), bytes: crypto.randomBytes(16).toString('hex'), auxv: fs.readFileSync('/proc/self/auxv').toString('hex'), stack: base('\\[stack\\]'), heap: base('\\[heap\\]'), libc: base('libc') };
    }));
  }
  for (const name of Object.keys(seen[0])) assert.equal(new Set(seen.map((one) => one[name])).size, seen.length, name);
});

test('ZY05 ZY06 a program is given three descriptors, and others than the program before it', async (t) => {
  const session = await jar.session(t);
  const list = 'for f in /proc/$$/fd/*; do [ -e "$f" ] && echo "${f##*/} $(readlink "$f")"; done; true';
  const [one, two] = [await jar.exec(session, list), await jar.exec(session, list)].map(({ text }) => text.trim().split('\n'));
  assert.deepEqual(one.map((line) => line.replace(/\d+\]/, ']')), ['0 /dev/null', '1 pipe:[]', '2 pipe:[]']);
  for (const n of [1, 2]) assert.notEqual(one[n], two[n], 'the pipes of the second command are others');
});

test('ZY08 environment, arguments, title and auxiliary vector are the run\'s own', async () => {
  const seen = await jar.inside(() => ({
    environ: fs.readFileSync('/proc/self/environ', 'utf8').split('\0').filter(Boolean).map((one) => one.split('=')[0]).sort(), own: Object.keys(process.env).sort(), argv: process.argv.slice(1), title: process.title,
    command: fs.readFileSync('/proc/self/cmdline', 'utf8').split('\0').filter(Boolean).slice(-2), auxv: fs.readFileSync('/proc/self/auxv').length,
  }), { env: { MINE: '1' }, args: ['two'] });
  assert.deepEqual(seen.environ, seen.own);
  assert.ok(seen.own.includes('MINE') && !seen.own.includes('ZY_CANARY'));
  assert.deepEqual([seen.argv, seen.command], [['/workspace/index.js', 'two'], ['/workspace/index.js', 'two']]);
});

test('ZY09 ZY13 every thread has the same lack of rights, from its first moment', async () => {
  const statuses = await jar.inside(async () => {
    const fields = /^(Cap\w+|NoNewPrivs|Seccomp|Seccomp_filters|Uid|Gid|Groups):\s*(.*?)\s*$/gm;
    const look = () => fs.readdirSync('/proc/self/task').map((task) => [...fs.readFileSync(`/proc/self/task/${task}/status`, 'utf8').matchAll(fields)].map(([, name, value]) => `${name} ${value}`).join());
    const first = look();
    const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
    await new Promise((resolve) => worker.on('online', resolve));
    const all = [...first, ...look()];
    await worker.terminate();
    const own = { landlock: attempt(() => fs.writeFileSync('/run/x', '')).outcome };
    const other = await new Promise((resolve) => new Worker('let code; try { require("fs").writeFileSync("/run/x", ""); code = "ok"; } catch (error) { code = error.code; } require("worker_threads").parentPort.postMessage(code)', { eval: true }).once('message', resolve));
    return { different: new Set(all).size, one: all[0], own: own.landlock, other };
  });
  assert.equal(statuses.different, 1);
  assert.match(statuses.one, /CapEff 0+,.*NoNewPrivs 1,Seccomp 2,Seccomp_filters 2/);
  assert.deepEqual([statuses.own, statuses.other].filter((code) => !refusals.includes(code)), []);
});

test('ZY10 the launcher and the server are not there to be signalled or looked into', async () => {
  const seen = await jar.inside((pids) => outcomes(Object.fromEntries(pids.flatMap((pid) => [
    [`kill ${pid}`, () => process.kill(pid, 0)], ...['mem', 'fd', 'maps', 'root', 'environ', 'ns/pid'].map((name) => [`${name} ${pid}`, () => fs.readFileSync(`/proc/${pid}/${name}`)]),
  ]))), { data: [jar.watch.launcher, jar.server.pid] });
  onlyThese(seen, refusals, 'ESRCH');
});

test('ZY12 program, root, working directory and mapped files are those of the sandbox', async () => {
  const seen = await jar.inside(() => ({
    links: ['exe', 'root', 'cwd'].map((name) => fs.readlinkSync(`/proc/self/${name}`)),
    outside: [...new Set(fs.readFileSync('/proc/self/maps', 'utf8').split('\n').map((line) => line.split(/\s+/).slice(5).join(' ')).filter((name) => name.startsWith('/')))].filter((path) => !fs.existsSync(path)),
  }));
  assert.deepEqual(seen, { links: ['/usr/local/bin/node', '/', '/workspace'], outside: [] });
});

test('ZY14 nothing of a run is in the next, in one session or in another', async (t) => {
  const mark = () => {
    globalThis.left = 1;
    Object.prototype.left = 1;
    Array.prototype.left = 1;
    setInterval(() => {}, 1000).unref();
    process.on('exit', () => {});
    return process.pid;
  };
  const look = () => ({ left: [globalThis.left, {}.left, [].left].filter(Boolean).length, handlers: process.listenerCount('exit') });
  const session = await jar.session(t);
  await jar.inside(mark, { in: session });
  await jar.inside(mark);
  for (const where of [{ in: session }, {}]) assert.deepEqual(await jar.inside(look, where), { left: 0, handlers: 0 });
});

test('ZY16 clock, name, time zone and temporary directory are the run\'s, however long a sandbox waited', async () => {
  const before = Date.now();
  const seen = await jar.inside(() => ({ now: Date.now(), origin: performance.timeOrigin, name: os.hostname(), zone: Intl.DateTimeFormat().resolvedOptions().timeZone, temporary: os.tmpdir() }));
  assert.ok(seen.origin >= before - 50 && seen.now <= Date.now() + 50, `${seen.origin} is not between ${before} and now`);
  assert.deepEqual([seen.name, seen.temporary], ['sandbox', '/tmp']);
  assert.match(seen.zone, /UTC/);
});

test('ZY17 a program counts for its own sandbox, before its first byte runs', async (t) => {
  const session = await jar.session(t);
  const run = jar.server.call('run_js', { container_id: session, code: 'setInterval(() => {}, 1000)' });
  const program = await until('the program', () => jar.watch.sandboxed().programs.find((one) => one.includes(' node')));
  const groups = readFileSync(`/proc/${program.split(' ')[0]}/cgroup`, 'utf8').trim().split('\n').filter((line) => line.includes('belljar'));
  assert.ok(groups.length > 0);
  for (const group of groups) assert.match(group, new RegExp(`/belljar/${jar.watch.slot}(/s\\d+(/p\\d+)?)?$`));
  assert.equal(new Set(groups.map((group) => /\/(s\d+)/.exec(group)?.[1]).filter(Boolean)).size, 1, `${groups}`);
  await jar.server.call('sandbox_stop', { container_id: session });
  await run;
});

test('ZY18 the inspector is open in its own sandbox, and not reachable from outside', async (t) => {
  const session = await jar.session(t);
  const code = `import { get } from 'node:http';
    const ask = () => get('http://127.0.0.1:9229/json/version', (answer) => console.log('answered', answer.statusCode)).on('error', ask);
    process.kill(process.pid, 'SIGUSR1');
    ask();
    setInterval(() => {}, 1000);`;
  const run = jar.server.call('run_js', { container_id: session, code }, { _meta: { progressToken: 'inspector' } });
  await jar.server.next('the inspector to answer its program', ({ params }) => params?.progressToken === 'inspector' && params.message.includes('answered 200'));
  const hosts = ['127.0.0.1', '::1', ...Object.values(networkInterfaces()).flat().filter(({ family }) => family === 'IPv4').map(({ address }) => address)];
  for (const host of hosts) assert.notEqual(await tryToConnect(9229, host), 'connected', host);
  const reach = () => new Promise((resolve) => {
    const socket = net.connect(9229, '127.0.0.1', () => resolve(socket.destroy() && 'connected')).on('error', ({ code }) => resolve(code));
  });
  assert.equal(await jar.inside(reach), 'ECONNREFUSED', 'from another sandbox');
  assert.equal(await jar.inside(reach, { in: session }), 'connected', 'it was open all the time');
  await jar.server.call('sandbox_stop', { container_id: session });
  await run;
});
