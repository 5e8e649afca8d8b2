// The probes can see success: made outside a sandbox, in throw-away mount, pid and network namespaces, the same calls
// work, or fail for another reason than the sandbox's. Harmless calls only; nothing here touches the host's own state.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { cloneNew, nr, onlyX64 } from './lib/syscalls.mjs';

const probe = process.env.ESCAPE_PROBE;
function outside(list) {
  const texts = list.map(([label, number, ...args]) => [label, ...(typeof number === 'string' ? number.split(' ') : ['native', number]), ...args].join(' '));
  const { stdout, stderr, status } = spawnSync('unshare', ['-mpnf', '--kill-child', probe, 'call', ...texts], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return Object.fromEntries(stdout.trim().split('\n').map((line) => JSON.parse(line)).map(({ label, result, signal }) => [label, signal ? `signal ${signal}` : result]));
}

test('NS control: namespaces and mounts can be made where nothing forbids it', onlyX64, () => {
  const seen = outside([['unshare', nr.unshare, cloneNew.NEWNS], ['clone', nr.clone, cloneNew.NEWUTS | 17, 0, 0, 0, 0], ['mount', nr.mount, 's:none', 's:/mnt', 's:tmpfs', 0, 0], ['fsopen', nr.fsopen, 's:tmpfs', 0]]);
  assert.equal(seen.unshare, 0);
  assert.ok(seen.clone >= 0); // 0 if the child was the last to say
  assert.equal(seen.mount, 0);
  assert.ok(seen.fsopen > 2);
});

test('SC control: the other entries of the kernel answer, or are not built', onlyX64, () => {
  const seen = outside([['i386', 'i386 20'], ['x32', 'x32 39'], ['sigreturn', 15], ['unknown', 999]]);
  assert.ok(seen.i386 > 0 || seen.i386 === 'signal 11', `getpid by int 0x80: ${seen.i386}`);
  assert.ok(seen.x32 > 0 || seen.x32 === -38, `getpid of x32: ${seen.x32}`);
  assert.equal(seen.sigreturn, 'signal 11');
  assert.equal(seen.unknown, -38);
});

test('KS control: sockets, keys, perf and priority futexes reach the kernel', onlyX64, () => {
  const seen = outside([['packet', nr.socket, 17, 3, 0], ['raw', nr.socket, 2, 3, 255], ['netlink', nr.socket, 16, 3, 12], ['keyctl', nr.keyctl, 0, -3, 1], ['perf', nr.perf_event_open, 0, 0, -1, -1, 0],
    ['futex', nr.futex, 'z:8', 6, 0, 0, 0, 0], ['memfd_secret', nr.memfd_secret, 0], ['shmget', nr.shmget, 0, 4096, 0]]);
  const refusedByFilter = Object.entries(seen).filter(([, result]) => result === -38).map(([label]) => label);
  assert.ok(seen.packet > 2 && seen.raw > 2, JSON.stringify(seen));
  assert.ok(refusedByFilter.length <= 4, `not in this kernel: ${refusedByFilter}`); // a small kernel lacks some
});

test('DV CP control: device nodes, set-user-ID bits and other personalities can be had', onlyX64, () => {
  const seen = outside([['mount', nr.mount, 's:none', 's:/mnt', 's:tmpfs', 0, 0], ['mknod', nr.mknod, 's:/mnt/null', 0o020666, 0x0103], ['creat', 85, 's:/mnt/tool', 0o755], ['chmod', nr.chmod, 's:/mnt/tool', 0o4755],
    ['personality', nr.personality, 0x0040000], ['setuid', nr.setuid, 1], ['tiocsti', nr.ioctl, 0, 0x5412, 's:x']]);
  for (const label of ['mknod', 'chmod', 'setuid', 'personality']) assert.ok(seen[label] >= 0, `${label}: ${seen[label]}`);
  assert.notEqual(seen.tiocsti, -1, 'ioctl on what is no terminal is another error than EPERM');
});

test('RS KS control: clone(CLONE_PARENT) and foreign socket pairs are seen when they work', onlyX64, () => {
  const { stdout } = spawnSync('unshare', ['-mpnf', '--kill-child', '/bin/sh', '-c', `${probe} clone 0x8011 3; ${probe} call 'pair native ${nr.socketpair} 2 1 0 z:8'`], { encoding: 'utf8' });
  const [clone, pair] = stdout.trim().split('\n').map((line) => JSON.parse(line));
  assert.equal(clone.made, 3);
  assert.equal(pair.result, -95); // EOPNOTSUPP: the family was reached, and said that it has no pairs
});
