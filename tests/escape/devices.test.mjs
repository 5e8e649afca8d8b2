// DV and CP: devices, terminals, capabilities, user ids.
import assert from 'node:assert/strict';
import { readlinkSync, statSync } from 'node:fs';
import { test } from 'node:test';

import { onlyThese, openJar, refusals } from './lib/jar.mjs';
import { nr, onlyX64 } from './lib/syscalls.mjs';

const jar = openJar();

test('DV02 no device node can be made anywhere; a FIFO can', onlyX64, async () => {
  const seen = await jar.inside((nr) => calls(['/tmp', '/workspace', '/dev/shm', '/home/node', '/dev'].flatMap((place) => [
    [`${place} block`, nr.mknod, `s:${place}/b`, 0o060644, 0x0800].map((part) => String(part).replace(' block', '.block')),
    [`${place}.char`, nr.mknodat, -100, `s:${place}/c`, 0o020644, 0x0501], [`${place}.mem`, nr.mknod, `s:${place}/m`, 0o020666, 0x0101],
  ].map(([label, number, ...rest]) => [label, Number(number), ...rest])).concat([['fifo', nr.mknod, 's:/tmp/fifo', 0o010644, 0]])), { data: nr });
  assert.equal(seen.fifo, 'ok');
  delete seen.fifo;
  onlyThese(seen, 'EPERM');
});

test('DV05 typing into a terminal is refused, whatever is in the upper half of the number', onlyX64, async () => {
  const requests = { TIOCSTI: 0x5412, TIOCLINUX: 0x541c, TIOCSETD: 0x5423, FS_IOC_SETFLAGS: 0x40086602, FIFREEZE: 0xc0045877, FITRIM: 0xc0185879 };
  const seen = await jar.inside(({ nr, requests }) => calls(Object.entries(requests).flatMap(([name, request]) => [
    [name, nr.ioctl, 0, request, 'z:64'], ...[32, 40, 63].map((bit) => [`${name}.${bit}`, nr.ioctl, 0, `0x${((1n << BigInt(bit)) + BigInt(request)).toString(16)}`, 'z:64']),
  ])), { data: { nr, requests } });
  onlyThese(seen, 'EPERM');
});

test('DV06 there is no controlling terminal and none can be had', async () => {
  const seen = await jar.inside(() => ({ ...tryToRead(['/dev/tty', '/dev/console', '/dev/ptmx', '/dev/pts/0', '/dev/tty1']), tty: fs.readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[4] }));
  assert.equal(seen.tty, '0');
  delete seen.tty;
  onlyThese(seen, refusals, 'ENXIO');
});

test('DV08 PT01 PT04 what one sandbox leaves in shared places no other sees, and the next one neither', async (t) => {
  const places = ['/dev/shm', '/tmp', '/workspace', '/home/node', '/var/tmp', '/run'];
  const [one, two] = [await jar.session(t), await jar.session(t)];
  const left = await jar.inside((places) => outcomes(Object.fromEntries(places.map((place) => [place, () => fs.writeFileSync(`${place}/left-behind`, 'secret')]))), { in: one, data: places });
  assert.equal(left['/dev/shm'], 'ok');
  const look = (places) => places.filter((place) => fs.existsSync(`${place}/left-behind`));
  assert.deepEqual(await jar.inside(look, { in: two, data: places }), []);
  await jar.server.call('sandbox_stop', { container_id: one });
  assert.deepEqual(await jar.inside(look, { data: places }), []);
  await assert.rejects(jar.inside(look, { in: one, data: places }), /no such sandbox|not found/i, 'PT04 an old id stays dead');
});

test('DV09 immutable files cannot be made, so everything can be removed', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    fs.writeFileSync('/workspace/stays', '');
    const list = [];
    for (const [name, request, bytes] of [['SETFLAGS', 0x40086602, '10000000'], ['FSSETXATTR', 0x401c5820, `08000000${'00'.repeat(24)}`]]) list.push([name, nr.ioctl, 9, request, `b:${bytes}`]);
    const script = list.map(([name, number, fd, request, bytes]) => `exec 9</workspace/stays; ${bringProbe()} call '${name} native ${number} ${fd} ${request} ${bytes}'`).join(';');
    return Object.fromEntries(String(cp.execSync(script, { shell: '/bin/bash' })).trim().split('\n').map((line) => JSON.parse(line)).map((answer) => [answer.label, verdict(answer)]));
  }, { data: nr });
  onlyThese(seen, 'EPERM', 'ENOTTY', 'EOPNOTSUPP', 'EACCES');
});

test('DV10 the time stamps of the host\'s device nodes cannot be changed', async () => {
  const before = statSync('/dev/full').mtimeMs;
  const seen = await jar.inside(() => cp.spawnSync('touch', ['/dev/full']).status);
  assert.equal(statSync('/dev/full').mtimeMs, before);
  assert.notEqual(seen, 0);
});

test('CP02 NS17 set-user-ID programs of the base layer give nobody anything', async () => {
  const seen = await jar.inside(() => {
    const files = String(cp.spawnSync('find', ['/usr', '-xdev', '-perm', '/6000', '-type', 'f', '-perm', '-001']).stdout).trim().split('\n').filter(Boolean);
    // The dynamic linker prints the auxiliary vector, and ends, only for a program that runs without added rights.
    return Object.fromEntries(files.map((file) => {
      const { stdout } = cp.spawnSync(file, { env: { LD_SHOW_AUXV: '1', LD_TRACE_LOADED_OBJECTS: '1' }, stdio: ['ignore', 'pipe', 'ignore'], timeout: 2000 });
      const value = (name) => new RegExp(`^${name}:\\s+(\\S+)`, 'm').exec(stdout)?.[1];
      return [file, [value('AT_SECURE'), value('AT_UID'), value('AT_EUID'), value('AT_GID'), value('AT_EGID')].join(' ')];
    }));
  });
  onlyThese(seen, '0 1000 1000 1000 1000');
});

test('CP04 CP05 no other user or group can be had, and no file given away', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    fs.writeFileSync('/workspace/mine', '');
    return { ...outcomes({
      setuid: () => process.setuid(0), seteuid: () => process.seteuid(0), setgid: () => process.setgid(0), setgroups: () => process.setgroups([0]),
      chown: () => fs.chownSync('/workspace/mine', 0, 0), 'chown outside the map': () => fs.chownSync('/workspace/mine', 1, 1), chgrp: () => fs.chownSync('/workspace/mine', -1, 0),
    }), ...calls([['setresuid', 117, 0, 0, 0], ['setfsuid.high', 105, '0x100000000'], ['capset', 126, `b:${'20080522'.match(/../g).reverse().join('')}00000000`, `b:${'ff'.repeat(24)}`]]) };
  }, { data: nr });
  onlyThese(seen, 'EPERM', 'EINVAL');
  const after = await jar.inside(() => [process.getuid(), process.geteuid(), process.getgid(), process.getgroups().join()]);
  assert.deepEqual(after, [1000, 1000, 1000, '1000']); // getgroups() of Node.js adds the effective group
});

test('CP06 the set-user-ID bit cannot be set, by any form of chmod', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    fs.writeFileSync('/workspace/tool', '#!/bin/sh\n', { mode: 0o755 });
    const list = [0o4755, 0o2755, 0o6777].flatMap((mode) => [
      [`chmod.${mode}`, nr.chmod, 's:/workspace/tool', mode], [`fchmod.${mode}`, nr.fchmod, 1, mode],
      [`fchmodat.${mode}`, nr.fchmodat, -100, 's:/workspace/tool', mode], [`fchmodat2.${mode}`, nr.fchmodat2, -100, 's:/workspace/tool', mode, 0],
      [`high.${mode}`, nr.chmod, 's:/workspace/tool', `0x1${mode.toString(16).padStart(8, '0')}`],
    ]);
    return { ...calls(list), mode: (fs.statSync('/workspace/tool').mode & 0o7777).toString(8) };
  }, { data: nr });
  assert.equal(seen.mode, '755');
  delete seen.mode;
  onlyThese(seen, 'EPERM');
});

test('CP06 the set-user-ID bit cannot be set when a file is made', onlyX64, async () => {
  const seen = await jar.inside((nr) => {
    const list = [0o4755, 0o2755, 0o6777].flatMap((mode) => [
      [`open.${mode}`, nr.open, 's:/workspace/born', 0o101, mode], [`openat.${mode}`, nr.openat, -100, 's:/workspace/born', 0o101, mode],
      [`tmpfile.${mode}`, nr.openat, -100, 's:/workspace', 0o20200002, mode], [`creat.${mode}`, nr.creat, 's:/workspace/born', mode],
      [`mknod.${mode}`, nr.mknod, 's:/workspace/born', 0o100000 | mode, 0], [`mknodat.${mode}`, nr.mknodat, -100, 's:/workspace/born', 0o100000 | mode, 0],
    ]);
    return { ...calls(list), exists: String(fs.existsSync('/workspace/born')) };
  }, { data: nr });
  assert.equal(seen.exists, 'false');
  delete seen.exists;
  onlyThese(seen, 'EPERM');
});

test('CP08 CP09 a process cannot rewrite its own protection', onlyX64, async () => {
  const options = { SET_SECCOMP: 22, SET_MM: 35, SET_PTRACER: 0x59616d61 };
  const seen = await jar.inside(({ nr, options }) => calls([
    ...Object.entries(options).flatMap(([name, option]) => [[name, nr.prctl, option, 1, 0, 0, 0], [`${name}.high`, nr.prctl, `0x1${option.toString(16).padStart(8, '0')}`, 1, 0, 0, 0]]),
    ['ADDR_NO_RANDOMIZE', nr.personality, 0x0040000], ['READ_IMPLIES_EXEC', nr.personality, 0x0400000], ['high', nr.personality, '0x100040000'],
    ['SET_NO_NEW_PRIVS.off', nr.prctl, 38, 0, 0, 0, 0], ['SET_SECUREBITS', nr.prctl, 28, 0, 0, 0, 0], ['CAP_AMBIENT', nr.prctl, 47, 2, 21, 0, 0],
  ]), { data: { nr, options } });
  onlyThese(seen, 'EPERM', 'ENOSYS', 'EINVAL');
});

test('CP10 what belljar runs is static and takes nothing from the sandbox', async (t) => {
  const launcher = jar.watch.launcher;
  assert.match(readlinkSync(`/proc/${launcher}/exe`), /belljar-launcher$/);
  const session = await jar.session(t);
  const seen = await jar.inside(() => outcomes({
    preload: () => fs.writeFileSync('/etc/ld.so.preload', '/tmp/evil.so'), cache: () => fs.writeFileSync('/etc/ld.so.cache', ''), profile: () => fs.writeFileSync('/etc/profile', ''),
  }), { in: session });
  onlyThese(seen, refusals);
  // Files that a shell or Node.js might read by itself have no say in how the next command starts.
  await jar.exec(session, 'echo "echo hijacked" | tee ~/.profile ~/.bashrc ~/.shrc /workspace/.env > /dev/null');
  assert.doesNotMatch((await jar.exec(session, 'true')).text, /hijacked/);
});
