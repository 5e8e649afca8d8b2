// What belljar says about the host, and that it refuses where a host cannot keep its promises.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, describe, test } from 'node:test';
import { belljar, cli, environment, root } from './lib/belljar.mjs';

const doctor = async (...args) => {
  const { code, stdout, stderr } = await cli(['doctor', '--json', ...args]);
  return { code, stderr, report: JSON.parse(stdout) };
};
const required = (report) => report.features.filter((feature) => feature.need === 'required');
const weaker = (report) => report.features.filter((feature) => feature.state !== 'ok' && feature.need === 'optional');

// Root without the rights of root may not look into the home where the programs are: it gets copies.
const place = mkdtempSync(join(tmpdir(), 'belljar-doctor-'));
after(() => rmSync(place, { recursive: true }));
for (const name of ['belljar', 'belljar-launcher']) copyFileSync(join(dirname(belljar), name), join(place, name));

// Runs belljar in namespaces of its own, after a command that makes them a worse host.
function worseHost(namespaces, command, args) {
  return new Promise((resolve, reject) => {
    const child = spawn('unshare', [...namespaces, 'sh', '-c', `${command} && exec "$@"`, 'sh', join(place, 'belljar'), ...args], {
      env: environment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (bytes) => (stdout += bytes));
    child.stderr.on('data', (bytes) => (stderr += bytes));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

// As with user.max_user_namespaces=0.
const withoutNamespaces = (args) =>
  worseHost(['--user', '--map-root-user'], 'echo 0 > /proc/sys/user/max_user_namespaces', args);
// As in a container that covers parts of /proc: the kernel then lets nobody mount another.
const withCoveredProc = (args) => worseHost(['--mount'], 'mount -t tmpfs none /proc/irq', args);
// With cgroup v2 there never is one.
const withoutDeviceCgroup = (args) => worseHost(['--mount'], '{ umount /sys/fs/cgroup/devices || true; } 2> /dev/null', args);

describe('belljar doctor', () => {
  test('--json has the shape that docs/doctor.md promises', async () => {
    const { code, stderr, report } = await doctor();
    assert.equal(code, 0, stderr);
    assert.equal(report.usable, true);
    assert.deepEqual(report.unmet, []);
    for (const feature of report.features) {
      assert.deepEqual(Object.keys(feature), ['name', 'group', 'need', 'state', 'detail', 'fix']);
      assert.ok(['required', 'optional', 'convenience'].includes(feature.need), feature.name);
      assert.equal(feature.fix === '', feature.state === 'ok', feature.name);
      assert.ok(feature.detail, feature.name);
    }
    for (const setting of report.settings) {
      assert.deepEqual(Object.keys(setting), ['name', 'state', 'value', 'wanted', 'why', 'fix']);
      assert.equal(setting.fix === '', setting.state === 'ok', setting.name);
    }
    assert.ok(report.settings.length >= 18);
    assert.match(report.kernel.asOf, /^\d{4}-\d{2}$/);
    assert.ok(report.kernel.release && Array.isArray(report.kernel.warnings));
  });

  test('everything required is there, and the grade says what is not enforced', async () => {
    const { report } = await doctor();
    assert.ok(required(report).length >= 18);
    for (const feature of required(report)) assert.equal(feature.state, 'ok', feature.name);
    const missing = weaker(report).map((feature) => feature.name);
    assert.deepEqual(report.isolation, { grade: missing.length === 0 ? 'full' : 'reduced', weaker: missing, boundary: 'native' });
  });

  test('prints the same for people', async () => {
    const { code, stdout, stderr } = await cli(['doctor']);
    const { report } = await doctor();
    assert.equal(code, 0, stderr);
    for (const { name } of [...report.features, ...report.settings]) assert.ok(stdout.includes(name), name);
    assert.match(stdout, new RegExp(`Isolation: ${report.isolation.grade}`));
    assert.match(stdout, /Sandboxes work on this host/);
  });

  test('--apparmor-profile prints the shipped profile with the path of this launcher', async () => {
    const { code, stdout, stderr } = await cli(['doctor', '--apparmor-profile']);
    assert.equal(code, 0, stderr);
    const shipped = readFileSync(`${root}packaging/apparmor/belljar`, 'utf8');
    const [path] = stdout.match(/\/[^"]*belljar-launcher(?=")/);
    assert.equal(stdout, shipped.replace('/usr/libexec/belljar/belljar-launcher', path));
  });
});

describe('without user namespaces', () => {
  test('doctor says why and what to do, and ends with 1', async () => {
    const { code, stdout, stderr } = await withoutNamespaces(['doctor', '--json']);
    assert.equal(code, 1, stderr);
    const report = JSON.parse(stdout);
    assert.equal(report.usable, false);
    assert.equal(report.isolation.grade, 'refused');
    assert.ok(report.unmet.includes('user-namespace'));
    const feature = report.features.find(({ name }) => name === 'user-namespace');
    assert.equal(feature.state, 'missing');
    assert.match(feature.fix, /sysctl -w user\.max_user_namespaces=\d+/);
  });

  test('no program runs', async () => {
    const plain = await withoutNamespaces(['run', '-e', 'console.log("ran")']);
    assert.notEqual(plain.code, 0);
    assert.equal(plain.stdout, '');
    assert.match(plain.stderr, /To fix it: /);
    const demanding = await withoutNamespaces(['run', '--require=landlock', '-e', 'console.log("ran")']);
    assert.notEqual(demanding.code, 0);
    assert.equal(demanding.stdout, '');
    assert.match(demanding.stderr, /To fix it: sysctl -w user\.max_user_namespaces=\d+/);
  });

  test('the server refuses to start', async () => {
    const { code, stdout, stderr } = await withoutNamespaces(['mcp']);
    assert.notEqual(code, 0);
    assert.equal(stdout, '');
    assert.match(stderr, /To fix it: /);
  });
});

describe('--require', () => {
  test('with features that this host enforces changes nothing', async () => {
    const { report } = await doctor();
    const names = report.features.filter(({ name, state }) => name !== 'sandbox' && state === 'ok').map(({ name }) => name);
    const { code, stdout, stderr } = await cli(['run', `--require=${names.join(',')}`, '-e', 'console.log("ran")']);
    assert.equal(code, 0, stderr);
    assert.equal(stdout, 'ran\n');
  });

  test('with a name that does not exist is an error that lists the names', async () => {
    const { code, stderr } = await cli(['run', '--require=landlock,moat', '-e', '1']);
    assert.notEqual(code, 0);
    assert.match(stderr, /landlock,moat.*\blimits\b.*\blandlock\b/s);
  });

  test('with a feature that is not enforced refuses, with the fix', async () => {
    const report = JSON.parse((await withoutDeviceCgroup(['doctor', '--json'])).stdout);
    const devices = report.features.find(({ name }) => name === 'devices');
    assert.equal(devices.state, 'degraded');
    assert.equal(report.usable, true);
    assert.equal((await withoutDeviceCgroup(['run', '-e', 'console.log("ran")'])).stdout, 'ran\n');

    const refused = await withoutDeviceCgroup(['run', '--require=devices', '-e', 'console.log("ran")']);
    assert.notEqual(refused.code, 0);
    assert.equal(refused.stdout, '');
    assert.ok(refused.stderr.includes(devices.detail) && refused.stderr.includes(devices.fix), refused.stderr);
    const demanding = await withoutDeviceCgroup(['doctor', '--json', '--require=devices']);
    assert.equal(demanding.code, 1);
    assert.deepEqual(JSON.parse(demanding.stdout).unmet, ['devices']);
  });
});

describe('with a covered /proc', () => {
  test('no program runs, and the reason is named', async () => {
    const { code, stdout, stderr } = await withCoveredProc(['run', '-e', 'console.log("ran")']);
    if (code === 0) return; // a kernel that lets a user namespace mount subset=pid all the same
    assert.equal(stdout, '');
    assert.match(stderr, /mount \/proc.*To fix it: .*unmasked \/proc/);
    const report = JSON.parse((await withCoveredProc(['doctor', '--json'])).stdout);
    assert.deepEqual(report.unmet, ['sandbox', 'procfs']);
  });
});

describe('isolation', () => {
  test('is part of a result, with the grade that doctor gives', async () => {
    const { report } = await doctor();
    const { stdout, stderr } = await cli(['run', '--json', '-e', '1']);
    assert.deepEqual(JSON.parse(stdout).isolation, report.isolation, stderr);
  });
});
