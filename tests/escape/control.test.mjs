// Positive controls: the attacks of the other files succeed, or get as far as the next layer, where one layer is left out.
// Harmless attacks only, against canaries, in throw-away namespaces (lib/weak.mjs).
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

import { belljar, root } from '../e2e/lib/belljar.mjs';
import { temporaryDirectory, user } from '../e2e/lib/directories.mjs';
import { isUsers } from './lib/applies.mjs';
import { cloneNew, nr, onlyX64 } from './lib/syscalls.mjs';
import { weakLauncher, without } from './lib/weak.mjs';

const needed = existsSync(weakLauncher) ? onlyX64 : { skip: 'belljar-launcher-weak is not built: ninja belljar-launcher-weak' };
const control = (name, body) => test(`control: ${name}`, needed, body);
const mebibyte = 1 << 20;
// A world-writable directory in a /usr that exists only in the throw-away namespaces.
const ownUsr = 'mount -t tmpfs none /mnt && mkdir -p /mnt/upper/canary /mnt/work && chmod 777 /mnt/upper/canary && mount -t overlay -o lowerdir=/usr,upperdir=/mnt/upper,workdir=/mnt/work none /usr';
const make = (jar, list, args) => jar.inside((list) => calls(list), { data: list, ...args });

control('the launcher that is shipped has no switch in it', () => {
  const folder = `${root}src/drivers/linux/launcher/`;
  const sources = readdirSync(folder).filter((name) => name.endsWith('.cc')).map((name) => readFileSync(folder + name, 'utf8')).join('');
  const switches = [...sources.matchAll(/is_left_out\("([^"]+)"\)/g)].map(([, name]) => name);
  assert.ok(switches.length >= 6, `${switches}`);
  const has = (path) => ['belljar-launcher.weak', ...switches].filter((text) => readFileSync(path).includes(text));
  assert.deepEqual(has(weakLauncher), ['belljar-launcher.weak', ...switches]);
  if (dirname(belljar).endsWith('release')) assert.deepEqual(has(join(dirname(belljar), 'belljar-launcher')), []);
});

control('with nothing left out the weak launcher is a sandbox like the other', async (t) => {
  const jar = await without(t, [], { checked: true });
  assert.deepEqual(await make(jar, [['unshare', nr.unshare, cloneNew.NEWUSER], ['sti', nr.ioctl, 0, 0x5412, 's:x'], ['i386', 'i386 20']]), { unshare: 'ENOSYS', sti: 'EPERM', i386: 'SIGSYS' });
});

control('the posture check ends a sandbox that lacks a layer before its program runs', async (t) => {
  for (const layer of ['load the seccomp filters', 'seccomp names', 'seccomp arguments', 'drop privileges', 'limit resources', 'read-only /usr']) {
    const jar = await without(t, [layer], { checked: true });
    const result = await jar.exec((await jar.server.call('sandbox_initialize')).text, 'echo ran');
    assert.equal(result.isError, true);
    assert.match(result.text, /check the posture/, layer);
    assert.doesNotMatch(result.text, /^ran$/m);
  }
});

control('NS01 NS08 NS18 namespaces, mounts and handles: without the list of calls the kernel itself is asked', async (t) => {
  const list = [['user', nr.unshare, cloneNew.NEWUSER], ['mounts', nr.unshare, cloneNew.NEWNS], ['mount', nr.mount, 's:none', 's:/tmp', 's:tmpfs', 0, 0], ['chroot', nr.chroot, 's:/tmp'], ['handle', nr.open_by_handle_at, 0, 'z:16', 0]];
  const one = await make(await without(t, ['seccomp names']), list);
  assert.deepEqual({ ...one, handle: '' }, { user: 'ENOSPC', mounts: 'EPERM', mount: 'EPERM', chroot: 'EPERM', handle: '' }, 'the bound on user namespaces, and the lack of capabilities, are the next layers');
  assert.notEqual(one.handle, 'ENOSYS');
  const two = await make(await without(t, ['seccomp names', 'bound kernel objects']), list.slice(0, 1));
  assert.equal(two.user, 'ok', 'a user namespace of its own');
});

control('NS24 NS25 the base layer: read-only mount and Landlock, one behind the other', async (t) => {
  const attack = () => attempt(() => fs.writeFileSync('/usr/canary/planted', '')).outcome;
  const layers = { neither: [], 'no mount flag': ['read-only /usr'], 'no Landlock': ['apply Landlock'], both: ['read-only /usr', 'apply Landlock'] };
  const seen = {};
  for (const [name, left] of Object.entries(layers)) seen[name] = await (await without(t, left, { prepare: ownUsr })).inside(attack);
  assert.deepEqual(seen, { neither: 'EROFS', 'no mount flag': 'EACCES', 'no Landlock': 'EROFS', both: 'ok' });
});

control('PS01 PS05 PS13 PS14 /proc tells about the host where it is not covered', async (t) => {
  const jar = await without(t, ['masks of /proc', 'set the OOM score']);
  const seen = await jar.inside(() => ({
    boot: attempt(() => fs.readFileSync('/proc/sys/kernel/random/boot_id', 'utf8')).value, version: attempt(() => fs.readFileSync('/proc/version', 'utf8')).value,
    memory: fs.readFileSync('/proc/meminfo', 'utf8').split('\n')[0], score: fs.readFileSync('/proc/self/oom_score_adj', 'utf8').trim(),
  }));
  assert.equal(seen.boot, readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  assert.equal(seen.version, readFileSync('/proc/version', 'utf8'));
  assert.equal(seen.memory, readFileSync('/proc/meminfo', 'utf8').split('\n')[0]);
  assert.notEqual(seen.score, '900');
});

control('DV02 DV05 devices and terminals: argument rules, then Landlock and the kernel', async (t) => {
  const list = [['whiteout', nr.mknod, 's:/dev/shm/w', 0o020000, 0], ['null', nr.mknod, 's:/tmp/n', 0o020666, 0x0103], ['sti', nr.ioctl, 0, 0x5412, 's:x'], ['sti.high', nr.ioctl, 0, '0x100005412', 's:x']];
  const one = await make(await without(t, ['seccomp arguments']), list);
  assert.match(one.whiteout, /^(EACCES|ok)$/, 'ok: a Landlock that takes it for a file, as in Debian\'s Linux 6.1');
  assert.deepEqual({ ...one, whiteout: '' }, { whiteout: '', null: 'EACCES', sti: 'ENOTTY', 'sti.high': 'ENOTTY' });
  const two = await make(await without(t, ['seccomp arguments', 'apply Landlock']), list);
  assert.deepEqual(two, { whiteout: 'ok', null: 'EPERM', sti: 'ENOTTY', 'sti.high': 'ENOTTY' }, 'no capability for devices: the last layer');
});

control('CP01 CP04 a program keeps the launcher\'s user where rights are not dropped', async (t) => {
  const prepare = `${ownUsr}; echo secret > /usr/canary/own; chown ${user} /usr/canary/own; chmod 600 /usr/canary/own`;
  const look = ['grep -E "^(CapBnd|NoNewPrivs)" /proc/self/status; cat /usr/canary/own; true'];
  const seen = [];
  for (const layers of [[], ['drop privileges']]) {
    const jar = await without(t, layers, { prepare });
    seen.push((await jar.exec((await jar.server.call('sandbox_initialize')).text, ...look)).text);
  }
  assert.match(seen[0], /^CapBnd:\s+0+\nNoNewPrivs:\s+1\n(?!secret)/);
  assert.match(seen[1], /^CapBnd:\s+0*[1-9a-f]\w*\nNoNewPrivs:\s+0\nsecret$/m);
});

control('CP06 a set-user-ID file appears on the host where no rule looks at modes', async (t) => {
  const directory = temporaryDirectory(t);
  const jar = await without(t, ['seccomp arguments'], { env: { FILES_DIR: directory } });
  const seen = await jar.inside((nr) => {
    fs.writeFileSync('files/tool', '');
    return calls([['chmod', nr.chmod, 's:/workspace/files/tool', 0o4755]]);
  }, { data: nr });
  assert.deepEqual(seen, { chmod: 'ok' });
  assert.equal(statSync(join(directory, 'tool')).mode & 0o7777, 0o4755);
});

control('SC01 SC02 SC04 SC05 SC06 other entries and forbidden numbers reach the kernel without the filters', async (t) => {
  const list = [['i386', 'i386 20'], ['x32', 'x32 39'], ['uring', nr.io_uring_setup, 8, 0], ['seccomp', nr.seccomp, 2, 0, 's:abcd'], ['clone', nr.clone, `0x1${(cloneNew.NEWUSER | 17).toString(16)}`, 0, 0, 0, 0]];
  const none = await make(await without(t, ['load the seccomp filters']), list);
  assert.match(none.i386, /^(ok|SIGSEGV)$/, 'SIGSEGV: a kernel without that entry');
  assert.match(none.x32, /^(ok|ENOSYS)$/, 'ENOSYS: likewise');
  assert.ok(!['ENOSYS', 'SIGSYS'].includes(none.seccomp), none.seccomp);
  assert.equal(none.clone, 'ENOSPC');
  const names = await make(await without(t, ['seccomp arguments']), list);
  assert.deepEqual({ ...names, clone: '' }, { i386: 'SIGSYS', x32: 'SIGSYS', uring: 'ENOSYS', seccomp: 'ENOSYS', clone: '' });
  assert.equal(names.clone, 'ENOSPC', 'the rule was what said EPERM');
  const rules = await make(await without(t, ['seccomp names']), list);
  assert.deepEqual({ ...rules, uring: '', seccomp: '' }, { i386: 'SIGSYS', x32: 'SIGSYS', uring: '', seccomp: '', clone: 'EPERM' }, 'each of the two filters refuses other architectures');
});

control('KS02 KS04 KS13 KS18 KS20 KS21 rare parts of the kernel answer without the filters', async (t) => {
  const list = [['keyctl', nr.keyctl, 0, -3, 1], ['shmget', nr.shmget, 0, 4096, 0], ['perf', nr.perf_event_open, 0, 0, -1, -1, 0], ['packet', nr.socket, 17, 3, 0], ['raw', nr.socket, 2, 3, 255], ['netlink', nr.socket, 16, 3, 12],
    ['futex', nr.futex, 'z:8', 6, 0, 0, 0, 0], ['ulp', nr.setsockopt, 0, 6, 31, 's:tls', 4], ['pair', nr.socketpair, 2, 1, 0, 'z:8']];
  const seen = await make(await without(t, ['load the seccomp filters']), list);
  assert.deepEqual([seen.packet, seen.raw], ['EPERM', 'EPERM'], 'no capability: the next layer');
  assert.notEqual(seen.ulp, 'EPERM');
  assert.match(seen.pair, /^E(OPNOTSUPP|NOTSUP)$/, 'the family was reached, and has no pairs');
  const silent = Object.entries(seen).filter(([, verdict]) => verdict === 'ENOSYS').map(([label]) => label);
  assert.ok(silent.length <= 3, `not in this kernel: ${silent}`); // a small kernel lacks some
});

control('RS14 children can be foisted on the launcher where no rule looks at CLONE_PARENT', async (t) => {
  const made = await (await without(t, ['seccomp arguments'])).inside(() => probe('clone', '0x8011', '3')[0].made);
  assert.equal(made, 3);
});

control('RS01 RS12 RS20 RS25 memory, processes and file sizes have no bound without their limits', async (t) => {
  const jar = await without(t, ['limits of cgroups', 'look at memory', 'limit resources']);
  const seen = await jar.inside(() => {
    const perl = 'my $n = 0; for (1 .. 40) { my $p = fork; last unless defined $p; if ($p == 0) { sleep 20; exit } $n++ } print $n; kill "KILL", 0';
    return {
      memory: Buffer.alloc(160 << 20, 1).length >> 20, processes: Number(String(cp.spawnSync('perl', ['-e', `setpgrp; $| = 1; ${perl}`]).stdout)),
      sparse: attempt(() => fs.writeFileSync('/tmp/sparse', '') ?? fs.truncateSync('/tmp/sparse', 2 ** 40)).outcome, core: /^Max core file size\s+(\S+)/m.exec(fs.readFileSync('/proc/self/limits', 'utf8'))[1],
    };
  }, { limits: { memory: 96 * mebibyte, pids: 24, disk: 8 * mebibyte } });
  assert.deepEqual({ ...seen, core: '' }, { memory: 160, processes: 40, sparse: 'ok', core: '' });
  assert.notEqual(seen.core, '1');
});

control('IL02 IL05 NW04 names and services of the host are there without a host name and a network of its own', async (t) => {
  const prepare = `hostname canary-host; ip link set lo up; "${process.env.BELLJAR_NODE}" -e 'require("net").createServer((s) => s.end("host")).listen(7777, "127.0.0.1")' >/dev/null 2>&1 </dev/null & hostname`;
  const jar = await without(t, ['set the host name', 'own network', 'bring the loopback interface up'], { prepare: `${prepare} >/dev/null` });
  const seen = await jar.inside(async () => {
    const reach = () => new Promise((resolve) => net.connect(7777, '127.0.0.1').on('data', (bytes) => resolve(String(bytes))).on('error', ({ code }) => resolve(code)));
    let answer = await reach();
    for (let n = 0; n < 100 && answer === 'ECONNREFUSED'; n++, answer = await reach()) await sleep(20);
    return { name: os.hostname(), answer };
  });
  assert.deepEqual(seen, { name: 'canary-host', answer: isUsers ? 'ENETUNREACH' : 'host' }, 'a user\'s launcher has a network of its own: the next layer');
});
