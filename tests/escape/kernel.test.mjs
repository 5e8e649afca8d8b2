// KS: parts of the kernel that have been attacked before and that no program here needs.
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { memory } from '../e2e/lib/proc.mjs';
import { onlyThese, openJar } from './lib/jar.mjs';
import { nr, onlyX64 } from './lib/syscalls.mjs';

const jar = openJar();
const refused = async (list, ...wanted) => onlyThese(await jar.inside((list) => calls(list), { data: list }), ...wanted);
const named = (...names) => names.map((name) => [name, nr[name], 0, 0, 0, 0, 0]);

test('KS01 KS02 KS04 bpf, perf events and keys do not exist', onlyX64, () => refused([
  ['bpf.map', nr.bpf, 0, 'b:02000000040000000400000001000000', 128], ['bpf.prog', nr.bpf, 5, 'z:128', 128], ['perf', nr.perf_event_open, 'z:128', 0, -1, -1, 0],
  ['keyctl.join', nr.keyctl, 1, 0], ['keyctl.session', nr.keyctl, 0, -3, 1], ['add_key', nr.add_key, 's:user', 's:k', 's:v', 1, -2], ['request_key', nr.request_key, 's:user', 's:k', 0, 0],
], 'ENOSYS'));

test('KS05 KS06 nothing can be loaded into the kernel, and the machine cannot be stopped', onlyX64, () => refused([
  ...named('kexec_load', 'kexec_file_load', 'swapon', 'swapoff', 'acct', 'init_module', 'finit_module', 'delete_module', 'vhangup', 'sethostname', 'setdomainname', 'settimeofday', 'clock_settime', 'adjtimex', 'clock_adjtime', 'iopl', 'ioperm'),
  ['reboot', nr.reboot, 0xfee1dead, 672274793, 0, 0],
], 'ENOSYS'));

test('KS08 KS09 KS10 other processes\' memory, secret memory and memory policies are out of reach', onlyX64, () => refused(
  named('process_vm_readv', 'process_vm_writev', 'process_madvise', 'process_mrelease', 'kcmp', 'memfd_secret', 'vmsplice', 'remap_file_pages', 'move_pages', 'mbind', 'migrate_pages', 'set_mempolicy', 'get_mempolicy', 'userfaultfd', 'mlockall'), 'ENOSYS'));

// The filter answers before the kernel knows whether it has the family, so ENOSYS is the verdict on every host.
const families = Array.from({ length: 64 }, (_, family) => family).filter((family) => ![1, 2, 10, 16].includes(family));
test('KS12 KS13 KS16 every socket family but UNIX, IPv4, IPv6 and netlink is refused', onlyX64, () => refused(
  families.flatMap((family) => [1, 2, 3, 5].map((type) => [`family${family}.${type}`, nr.socket, family, type, 0])).concat([['high', nr.socket, '0x100000011', 3, 0]]), 'ENOSYS'));

test('KS12 KS16 KS06 socketpair makes UNIX sockets and no others, so it loads no module', onlyX64, () => refused(
  [2, 10, 16, ...families].flatMap((family) => [1, 2, 5].map((type) => [`family${family}.${type}`, nr.socketpair, family, type, 0, 'z:8'])), 'ENOSYS', 'EPERM'));

test('KS13 KS14 KS17 raw and odd protocols, and all netlink but routes, are refused', onlyX64, () => refused([
  ...[2, 10].flatMap((family) => [['raw', 3, 255], ['icmp', 2, family === 2 ? 1 : 58], ['sctp', 1, 132], ['mptcp', 1, 262], ['dccp', 6, 33], ['l2tp', 2, 115], ['udplite', 2, 136], ['seqpacket', 5, 0], ['packet', 10, 0]]
    .map(([name, type, protocol]) => [`${name}.${family}`, nr.socket, family, type, protocol])),
  ...Array.from({ length: 22 }, (_, i) => i + 1).map((protocol) => [`netlink.${protocol}`, nr.socket, 16, 3, protocol]), ['netlink.high', nr.socket, 16, 3, '0x10000000c'],
], 'ENOSYS'));

test('KS18 a socket cannot get another protocol on top, nor a filter', onlyX64, () => refused(
  [['ulp', 6, 31], ['encap', 17, 100], ['filter', 1, 26], ['bpf', 1, 50], ['reuse.cbpf', 1, 51], ['reuse.ebpf', 1, 52], ['ipt', 0, 64], ['ip6t', 41, 64]].flatMap(([name, level, option]) => [
    [name, nr.setsockopt, 0, level, option, 's:tls', 4], [`${name}.high`, nr.setsockopt, 0, `0x7${level.toString(16).padStart(8, '0')}`, `0xf${option.toString(16).padStart(8, '0')}`, 's:tls', 4],
  ]), 'EPERM'));

test('KS20 priority-inheritance futexes do not exist', onlyX64, () => refused([
  ...[6, 7, 8, 11, 12, 13].flatMap((op) => [op, op | 128, op | 256, op | 384].map((full) => [`op${full}`, nr.futex, 'z:8', full, 0, 0, 'z:8', 0])), ...named('futex_requeue', 'futex_wait', 'futex_wake'),
], 'ENOSYS'));

test('KS21 KS22 KS24 KS25 KS26 old and rare interfaces do not exist', onlyX64, () => refused(
  named('shmget', 'msgget', 'semget', 'mq_open', 'fanotify_init', 'quotactl', 'quotactl_fd', 'lookup_dcookie', 'syslog', 'modify_ldt', 'io_setup', 'io_submit', 'sync', 'syncfs', 'landlock_create_ruleset', 'landlock_add_rule',
    'landlock_restrict_self', 'seccomp', 'map_shadow_stack', 'lsm_get_self_attr', 'uselib', 'nfsservctl', 'execveat', 'set_mempolicy_home_node', 'name_to_handle_at'), 'ENOSYS'));

test('RS10 no better priority can be had', onlyX64, async () => {
  await refused([['nice', nr.setpriority, 0, 0, -5], ['fifo', nr.sched_setscheduler, 0, 1, 'b:01000000'], ['param', nr.sched_setparam, 0, 'z:8'], ['deadline', nr.sched_setattr, 0, 'z:64', 0], ['ioprio', nr.ioprio_set, 1, 0, 0x2000]], 'EACCES', 'EPERM', 'ENOSYS');
});

// A child made with CLONE_PARENT is the launcher's, whose pids it shares: once that made every later program look ended.
const foist = (session, count) => jar.exec(session, `exec /tmp/probe clone 0x8011 ${count}`);

test('RS14 PT02 children that a sandbox foists on the launcher cost it nothing and confuse nobody', onlyX64, async (t) => {
  const session = await jar.session(t);
  await jar.inside(() => void bringProbe(), { in: session });
  await foist(session, 100);
  const before = memory(jar.watch.launcher, 'VmRSS');
  await foist(session, 5000);
  assert.ok(memory(jar.watch.launcher, 'VmRSS') - before < 256 << 10, 'the launcher keeps nothing of them');
  for (let i = 0; i < 3; i++) assert.equal((await jar.server.run('console.log("mine")')).stdout, 'mine\n');
});

test('RS14 clone(CLONE_PARENT) is refused', onlyX64, async (t) => {
  const session = await jar.session(t);
  await jar.inside(() => void bringProbe(), { in: session });
  const { made } = JSON.parse((await foist(session, 3)).text.trim().split('\n')[0]);
  assert.equal(made, 0, 'children of the launcher that a sandbox made');
});
