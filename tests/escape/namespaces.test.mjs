// NS: out of the namespaces, the mounts and the root directory.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { oneId } from './lib/applies.mjs';
import { hostNode, sha256 } from './lib/host.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';
import { cloneNew, nr, onlyX64 } from './lib/syscalls.mjs';

const jar = openJar();

test('NS01 unshare, setns and clone with CLONE_NEW* are refused', onlyX64, async () => {
  const flags = { ...cloneNew, NEWTIME: 0x80, all: 0x7e020000 };
  const { seen, moved } = await jar.inside(({ nr, flags }) => {
    const ids = () => fs.readdirSync('/proc/self/ns').map((name) => fs.readlinkSync(`/proc/self/ns/${name}`)).join();
    const before = ids();
    const list = Object.entries(flags).flatMap(([name, flag]) => [
      [`unshare.${name}`, nr.unshare, flag],
      ...(name === 'NEWTIME' ? [] : [[`clone.${name}`, nr.clone, flag | 17, 0, 0, 0, 0]]),
    ]);
    return { seen: calls([...list, ['setns', nr.setns, 0, 0]]), moved: ids() !== before };
  }, { data: { nr, flags } });
  onlyThese(seen, 'EPERM', 'ENOSYS');
  assert.equal(moved, false);
});

test('NS02 clone3, whose flags no filter can read, does not exist; threads and children work without it', onlyX64, async () => {
  const { seen, child, worker } = await jar.inside(async ({ nr, newUser }) => {
    const bytes = Buffer.alloc(88);
    bytes.writeBigUInt64LE(BigInt(newUser), 0);
    const thread = new Worker('require("worker_threads").parentPort.postMessage("thread")', { eval: true });
    const worker = await new Promise((resolve) => thread.once('message', resolve));
    return { seen: calls([['clone3', nr.clone3, `b:${bytes.toString('hex')}`, 88]]), child: String(cp.execSync('echo child')).trim(), worker };
  }, { data: { nr, newUser: cloneNew.NEWUSER } });
  assert.deepEqual({ ...seen, child, worker }, { clone3: 'ENOSYS', child: 'child', worker: 'thread' });
});

test('NS04 NS05 NS20 chroot is refused, and no path leads above the root', onlyX64, async () => {
  const canary = jar.watch.canary;
  const seen = await jar.inside(({ nr, canary }) => {
    fs.mkdirSync('/tmp/x/y', { recursive: true });
    const up = '../'.repeat(40);
    const own = fs.readdirSync('/proc/self/task').map(Number);
    const pids = Array.from({ length: 300 }, (_, i) => i + 1).filter((pid) => !own.includes(pid));
    const roots = ['/', `/${up}`, `/proc/self/root/${up}`, `/proc/self/cwd/${up}`, '/.old_root', '/put_old', '/mnt', '/oldroot', '/lower', '/tmp/upper',
      ...pids.flatMap((pid) => [`/proc/${pid}/root`, `/proc/${pid}/cwd`, `/proc/${pid}/task/${pid}/root`])];
    const found = roots.filter((root) => fs.existsSync(root + canary));
    return { ...calls([['chroot', nr.chroot, 's:/tmp/x'], ['pivot_root', nr.pivot_root, 's:/tmp/x', 's:/tmp/x/y']]), found: found.join(), strangers: pids.filter((pid) => fs.existsSync(`/proc/${pid}`)).join() };
  }, { data: { nr, canary } });
  assert.deepEqual(seen, { chroot: 'ENOSYS', pivot_root: 'ENOSYS', found: '', strangers: '' });
});

test('NS06 no descriptor but stdin, stdout and stderr is inherited, and none is a directory', async (t) => {
  const session = await jar.session(t);
  const { text } = await jar.exec(session, 'perl -e \'for my $fd (0..4095) { my @s = stat(my $h = "/proc/self/fd/$fd"); print "$fd:", -d _ ? "directory" : -p _ ? "pipe" : -c _ ? "device" : "other", " " if @s }\'');
  assert.match(text, /^0:device 1:pipe 2:pipe\s*$/);
});

test('NS08 NS09 NS10 nothing can be mounted, moved or unmounted, by the old calls or the new', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    fs.mkdirSync('/tmp/m');
    const mount = (label, source, type, flags = 0) => [`mount.${label}`, nr.mount, `s:${source}`, 's:/tmp/m', `s:${type}`, flags, 0];
    return calls([
      mount('tmpfs', 'none', 'tmpfs'), mount('proc', 'proc', 'proc'), mount('sysfs', 'sysfs', 'sysfs'), mount('cgroup', 'cgroup', 'cgroup'),
      mount('bind', '/proc', 'none', 4096), ['mount.remount', nr.mount, 0, 's:/usr', 0, 4096 | 32, 0],
      ['mount.propagation', nr.mount, 0, 's:/', 0, 1 << 20, 0],
      ['umount.mask', nr.umount2, 's:/proc/sys', 2], ['umount.root', nr.umount2, 's:/', 2],
      ['fsopen', nr.fsopen, 's:tmpfs', 0], ['fsconfig', nr.fsconfig, 0, 0, 0, 0, 0], ['fsmount', nr.fsmount, 0, 0, 0], ['fspick', nr.fspick, -100, 's:/', 0],
      ['open_tree', nr.open_tree, -100, 's:/', 1], ['open_tree_attr', nr.open_tree_attr, -100, 's:/', 1, 0, 0],
      ['move_mount', nr.move_mount, -100, 's:/proc', -100, 's:/tmp/m', 0], ['mount_setattr', nr.mount_setattr, -100, 's:/usr', 0, 'z:32', 32],
      ['statmount', nr.statmount, 'z:32', 'z:512', 512, 0], ['listmount', nr.listmount, 'z:32', 'z:512', 8, 0],
    ]);
  }, { data: nr });
  onlyThese(seen, 'ENOSYS');
});

test('NS16 overlay attributes and whiteouts cannot be planted, and mean nothing where they can', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    fs.writeFileSync('/workspace/f', '');
    fs.mkdirSync('/workspace/d');
    const set = (label, path, name) => [label, 188, `s:${path}`, `s:${name}`, 's:/lower/etc', 10, 0];
    return {
      ...calls([
        set('trusted.file', '/workspace/f', 'trusted.overlay.redirect'), set('trusted.dir', '/workspace/d', 'trusted.overlay.opaque'),
        ['capability', 188, 's:/workspace/f', 's:security.capability', `b:0100000200002000${'00'.repeat(12)}`, 20, 0], ['whiteout', nr.mknod, 's:/workspace/w', 0o020000, 0],
      ]),
      escaped: calls([set('user', '/workspace/d', 'user.overlay.redirect')]).user, listing: fs.readdirSync('/workspace/d').join(),
    };
  }, { data: nr });
  assert.match(seen.escaped, /^(ok|EPERM|EOPNOTSUPP)$/); // newer kernels store it under another name
  assert.equal(seen.listing, '', 'a redirect shows nothing');
  onlyThese({ trusted: seen['trusted.file'], dir: seen['trusted.dir'], capability: seen.capability, whiteout: seen.whiteout }, refusals, 'EOPNOTSUPP');
});

test('NS18 NS22 files by handle and descriptors of other processes are out of reach', onlyX64, async () => {
  const handle = Buffer.from('08000000010000000200000000000000', 'hex').toString('hex'); // inode 2: "shocker"
  const seen = await jar.inside(({ nr, handle }) => ({
    ...calls([['by_handle', nr.open_by_handle_at, 0, `b:${handle}`, 0], ['to_handle', nr.name_to_handle_at, -100, 's:/', 'z:128', 'z:8', 0],
      ['getfd', nr.pidfd_getfd, 0, 0, 0], ['ptrace.init', nr.ptrace, 16, 1, 0, 0], ['ptrace.seize', nr.ptrace, 0x4206, 1, 0, 0],
      ['vm_readv', nr.process_vm_readv, 1, 'z:16', 1, 'z:16', 1, 0]]),
  }), { data: { nr, handle } });
  onlyThese(seen, 'ENOSYS');
});

test('NS12 NS17 NS24 NS25 the base layer cannot be written, linked, renamed or copied up', async () => {
  const version = await jar.inside(() => process.version);
  const seen = await jar.inside(async () => {
    const { createHash } = await import('node:crypto');
    const node = process.execPath;
    const attempts = {};
    for (const path of [node, '/usr/bin/env', '/etc/passwd', '/etc/ld.so.cache', '/bin/sh']) {
      attempts[`open ${path}`] = () => fs.openSync(path, 'r+');
      attempts[`link ${path}`] = () => fs.linkSync(path, '/workspace/linked');
      attempts[`rename ${path}`] = () => fs.renameSync(path, '/workspace/renamed');
      attempts[`unlink ${path}`] = () => fs.unlinkSync(path);
      attempts[`chmod ${path}`] = () => fs.chmodSync(path, 0o777);
    }
    for (const path of ['/', '/usr', '/usr/local/bin', '/etc', '/root', '/var/tmp', '/run', '/sys/fs/cgroup', '/home']) attempts[`create in ${path}`] = () => fs.writeFileSync(`${path}/planted`, '');
    attempts['exe of itself'] = () => fs.openSync('/proc/self/exe', 'r+');
    attempts['exe of init'] = () => fs.openSync('/proc/1/exe', 'r+');
    return { attempts: outcomes(attempts), sum: createHash('sha256').update(fs.readFileSync(node)).digest('hex') };
  });
  if (oneId) for (const path of ['/etc/passwd', '/etc/ld.so.cache']) delete seen.attempts[`chmod ${path}`];
  onlyThese(seen.attempts, refusals, 'EXDEV', 'ETXTBSY', 'EBUSY');
  const path = hostNode(version);
  assert.equal(seen.sum, sha256(path), 'inside and outside it is the same Node.js');
});

test('NS13 DV10 the device directory and the mount points cannot be replaced', async () => {
  const seen = await jar.inside(() => outcomes({
    'remove null': () => fs.unlinkSync('/dev/null'), 'rename null': () => fs.renameSync('/dev/null', '/dev/nil'), 'make a device': () => fs.writeFileSync('/dev/planted', ''),
    'rename dev': () => fs.renameSync('/dev', '/tmp/dev'), 'rename workspace': () => fs.renameSync('/workspace', '/tmp/w'), 'remove proc': () => fs.rmdirSync('/proc'),
    'link in dev': () => fs.symlinkSync('/proc/1/mem', '/dev/console'), 'rename tmp': () => fs.renameSync('/tmp', '/home/node/tmp'),
  }));
  onlyThese(seen, refusals, 'EBUSY', 'EXDEV');
});

test('NS26 socket families that have written into the page cache are refused, and the base layer reads the same twice', onlyX64, async () => {
  const families = { ALG: 38, RXRPC: 33, KEY: 15, XDP: 44, SMC: 43 };
  const hash = async () => {
    const { createHash } = await import('node:crypto');
    return createHash('sha256').update(fs.readFileSync('/usr/bin/env')).update(fs.readFileSync('/usr/lib/os-release')).digest('hex');
  };
  const first = await jar.inside(hash);
  const seen = await jar.inside(({ nr, families }) => calls(Object.entries(families).flatMap(([name, family]) =>
    [1, 2, 3, 5].map((type) => [`${name}.${type}`, nr.socket, family, type, 0]))), { data: { nr, families } });
  onlyThese(seen, 'ENOSYS');
  assert.equal(await jar.inside(hash), first);
  // What is on the disk, past the cache that all share.
  const onDisk = spawnSync('dd', ['if=/usr/bin/env', 'iflag=direct', 'bs=1M'], { stdio: ['ignore', 'pipe', 'ignore'] });
  if (onDisk.status === 0) assert.ok(onDisk.stdout.equals(readFileSync('/usr/bin/env')), 'cache and disk agree');
});
