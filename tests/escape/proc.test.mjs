// PS: what /proc and /sys tell, and what can be written there.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

import { oneId } from './lib/applies.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';

const jar = openJar();

test('PS01 PS13 PS14 files of /proc that tell about the kernel and the host are empty or absent', async () => {
  const names = ['kcore', 'kallsyms', 'keys', 'key-users', 'kmsg', 'timer_list', 'sched_debug', 'slabinfo', 'vmallocinfo', 'iomem', 'ioports', 'modules', 'config.gz', 'cmdline', 'version',
    'diskstats', 'partitions', 'interrupts', 'buddyinfo', 'zoneinfo', 'vmstat', 'swaps', 'locks', 'crypto', 'filesystems', 'kpageflags', 'kpagecount',
    'sys/kernel/random/boot_id', 'sys/kernel/ns_last_pid', 'sys/kernel/core_pattern', 'pressure/cpu', 'sysvipc/shm', 'bus/pci/devices', 'fs/ext4', 'irq/default_smp_affinity', 'driver/rtc', 'tty/drivers'];
  const seen = await jar.inside((names) => Object.fromEntries(names.map((name) => {
    const { outcome, value } = attempt(() => fs.readFileSync(`/proc/${name}`));
    return [name, outcome === 'ok' && value.length === 0 ? 'empty' : outcome];
  })), { data: names });
  onlyThese(seen, refusals, 'empty', 'ENOTDIR');
});

test('PS13 the figures of the machine are the sandbox\'s, not the host\'s', async () => {
  const seen = await jar.inside(() => Object.fromEntries(['cpuinfo', 'meminfo', 'stat', 'uptime', 'loadavg'].map((name) => [name, fs.readFileSync(`/proc/${name}`, 'utf8')])));
  assert.match(seen.meminfo, /^MemTotal: +524288 kB/);
  for (const name of ['cpuinfo', 'meminfo', 'stat']) {
    assert.ok(!seen[name].includes(/\d{5,}/.exec(readFileSync(`/proc/${name}`, 'utf8').split('\n')[0])?.[0] ?? 'x x'), name);
  }
  assert.equal(seen.uptime, '0.00 0.00\n');
});

test('PS02 PS04 PS09 PS10 nothing that steers the kernel can be written', async () => {
  const seen = await jar.inside(() => tryToWrite([
    ...['core_pattern', 'modprobe', 'hotplug', 'poweroff_cmd', 'hostname', 'randomize_va_space'].map((name) => `/proc/sys/kernel/${name}`),
    '/proc/sysrq-trigger', '/proc/sys/vm/drop_caches', '/proc/sys/user/max_user_namespaces', '/proc/irq/default_smp_affinity',
    '/proc/self/uid_map', '/proc/self/gid_map', '/proc/self/setgroups', '/proc/self/projid_map', '/proc/1/oom_score_adj', '/proc/1/uid_map',
    '/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes', '/sys/fs/cgroup/cgroup.procs', '/sys/fs/cgroup/memory/cgroup.procs', '/sys/fs/cgroup/release_agent',
    '/sys/fs/cgroup/cpu/cpu.cfs_quota_us', '/proc/cpuinfo', '/proc/meminfo', '/proc/kcore',
  ], '1'));
  onlyThese(seen, refusals, 'EINVAL');
  assert.equal(await jar.inside(() => process.constrainedMemory()), 512 << 20);
});

test('PS05 a program cannot make itself a less likely victim of the OOM killer', async () => {
  const seen = await jar.inside(() => ({ ...tryToWrite(['/proc/self/oom_score_adj', '/proc/self/oom_adj'], '-17'), value: fs.readFileSync('/proc/self/oom_score_adj', 'utf8').trim() }));
  assert.deepEqual(seen, { '/proc/self/oom_score_adj': 'EACCES', '/proc/self/oom_adj': 'EACCES', value: '900' });
});

test('PS06 init cannot be looked into', async () => {
  const seen = await jar.inside(() => tryToRead(['mem', 'environ', 'maps', 'root', 'exe', 'fd', 'cwd', 'status', 'cmdline', 'stack', 'auxv', 'ns/mnt'].map((name) => `/proc/1/${name}`)));
  onlyThese(seen, refusals);
});

test('PS08 /sys has nothing but the figures that libuv reads', async () => {
  const seen = await jar.inside(() => String(cp.execSync('find /sys -type f')).trim().split('\n').sort());
  const known = /^\/sys\/(devices\/system\/cpu\/online|fs\/cgroup\/(cpu\.max|memory\.(max|high)|cpu\/cpu\.cfs_(period|quota)_us|memory\/memory\.(soft_)?limit_in_bytes))$/;
  assert.deepEqual(seen.filter((path) => !known.test(path)), []);
});

test('PS12 /proc/net shows the sandbox\'s own network: one loopback interface, no sockets of the host', async () => {
  const seen = await jar.inside(() => ({ dev: fs.readFileSync('/proc/net/dev', 'utf8'), unix: fs.readFileSync('/proc/self/net/unix', 'utf8'), route: fs.readFileSync('/proc/net/route', 'utf8'), tcp: fs.readFileSync('/proc/net/tcp', 'utf8') }));
  assert.deepEqual(seen.dev.trim().split('\n').slice(2).map((line) => line.split(':')[0].trim()), ['lo']);
  for (const name of ['unix', 'route', 'tcp']) assert.equal(seen[name].trim().split('\n').length, 1, `${name}:\n${seen[name]}`);
});

test('PS16 physical addresses are hidden', async () => {
  const seen = await jar.inside(() => {
    const buffer = Buffer.alloc(8);
    const start = parseInt(fs.readFileSync('/proc/self/maps', 'utf8').split('-')[0], 16);
    return attempt(() => {
      fs.readSync(fs.openSync('/proc/self/pagemap'), buffer, 0, 8, start / 4096 * 8);
      return String(buffer.readBigUInt64LE() & ((1n << 55n) - 1n));
    });
  });
  if (seen.outcome === 'ok') assert.equal(seen.value, '0', 'the page frame number');
});

test('PS17 init cannot be killed, stopped or signalled, and goes on', async (t) => {
  const session = await jar.session(t);
  const seen = await jar.inside(() => outcomes(Object.fromEntries(['SIGKILL', 'SIGSTOP', 'SIGTERM', 'SIGSEGV', 'SIGHUP', 0].map((signal) => [signal, () => process.kill(1, signal)]))), { in: session });
  onlyThese(seen, oneId ? 'ok' : 'EPERM');
  assert.match((await jar.exec(session, 'kill -9 1; echo alive')).text, /^alive$/m);
  assert.match((await jar.exec(session, 'echo again')).text, /^again$/m);
});

test('NS20 a sandbox sees and signals only its own processes', async (t) => {
  const [one, two] = [await jar.session(t), await jar.session(t)];
  await jar.exec(one, 'sleep 50 >/dev/null 2>&1 &');
  const seen = await jar.inside(() => {
    const before = fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const own = fs.readdirSync('/proc/self/task').map(Number); // kill(2) takes thread ids too
    const reached = [];
    for (let pid = 2; pid < 32768; pid++) if (!own.includes(pid) && attempt(() => process.kill(pid, 0)).outcome !== 'ESRCH') reached.push(pid);
    return { before, reached, self: String(process.pid) };
  }, { in: two });
  assert.deepEqual(seen.before, [seen.self]);
  assert.deepEqual(seen.reached, []);
});
