// IL, HF20, HF21, PT01: what a sandbox can learn about the host, and what it shares with the server.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { hostname, networkInterfaces, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { spawn, spawnSync } from 'node:child_process';
import { test } from 'node:test';

import { ownDirectory, user } from '../e2e/lib/directories.mjs';
import { dataDirectory, home } from './lib/host.mjs';
import { onlyThese, openJar, refusals } from './lib/jar.mjs';

const secret = `s3cret${randomUUID().replaceAll('-', '')}`;
const names = ['AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN', 'NPM_TOKEN', 'SSH_AUTH_SOCK', 'KUBECONFIG', 'DOCKER_HOST', 'BELLJAR_CANARY'];
const jar = openJar({ env: Object.fromEntries(names.map((name) => [name, secret])) });

test('IL01 no variable of the server reaches a program, by its environment or another process\'s', async () => {
  const seen = await jar.inside(() => {
    const texts = [JSON.stringify(process.env)];
    for (const pid of fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name))) texts.push(attempt(() => fs.readFileSync(`/proc/${pid}/environ`, 'utf8')).value ?? '');
    return texts.join();
  });
  for (const name of [...names, secret]) assert.ok(!seen.includes(name), name);
});

test('IL02 names of the host are not in the sandbox', async () => {
  const seen = await jar.inside(() => ({
    names: [os.hostname(), String(cp.execSync('uname -n')).trim(), fs.readFileSync('/etc/hostname', 'utf8').trim()].join(),
    files: ['/etc/hosts', '/etc/resolv.conf', '/etc/passwd', '/etc/group'].map((path) => fs.readFileSync(path, 'utf8')).join(''),
    absent: ['/etc/machine-id', '/etc/shadow', '/etc/ssh', '/etc/ssl/private', '/var/lib/dbus', '/root/.ssh', '/etc/fstab'].filter((path) => fs.existsSync(path)),
  }));
  assert.equal(seen.names, 'sandbox,sandbox,sandbox');
  assert.deepEqual(seen.absent, []);
  if (hostname() !== 'sandbox' && hostname().length > 3) assert.ok(!seen.files.includes(hostname()));
});

test('IL02 paths of the host are not in the sandbox', { todo: 'the root field of /usr/local in /proc/self/mountinfo is the data directory on the host, with the operator\'s home' }, async () => {
  const seen = await jar.inside(() => fs.readFileSync('/proc/self/mountinfo', 'utf8'));
  assert.ok(!seen.includes(dataDirectory), 'the data directory of whoever runs belljar');
});

test('IL04 the kernel log and the host\'s logs are out of reach', async () => {
  const seen = await jar.inside(() => ({ ...tryToRead(['/dev/kmsg', '/var/log/syslog', '/var/log/dmesg', '/run/log/journal']), dmesg: cp.spawnSync('dmesg').status === 0 ? 'ok' : 'EPERM', logs: fs.readdirSync('/var/log').join() || 'ENOENT' }));
  onlyThese(seen, refusals);
});

test('IL05 there is one network interface, the sandbox\'s own loopback, and no way out', async () => {
  const addresses = Object.values(networkInterfaces()).flat().filter(({ internal, family }) => !internal && family === 'IPv4').map(({ address }) => address);
  const listener = createServer((_, answer) => answer.end(secret)).listen(0, '0.0.0.0');
  await new Promise((resolve) => listener.once('listening', resolve));
  try {
    const seen = await jar.inside(async ({ port, addresses }) => {
      const reach = (host) => new Promise((resolve) => {
        const socket = net.connect({ host, port, timeout: 300 }, () => resolve('ok')).on('error', (error) => resolve(error.code)).on('timeout', () => resolve('timeout'));
      });
      return { interfaces: Object.keys(os.networkInterfaces()), reached: Object.fromEntries(await Promise.all(['127.0.0.1', '::1', '169.254.169.254', '1.1.1.1', ...addresses].map(async (host) => [host, await reach(host)]))) };
    }, { data: { port: listener.address().port, addresses } });
    assert.deepEqual(seen.interfaces, ['lo']);
    onlyThese(seen.reached, 'ECONNREFUSED', 'ENETUNREACH', 'EADDRNOTAVAIL');
  } finally {
    listener.close();
  }
});

test('IL06 what Node.js tells of the machine is the sandbox\'s', async () => {
  const seen = await jar.inside(() => ({ total: os.totalmem(), processors: os.cpus().length, load: os.loadavg().join(), version: os.version() }));
  assert.equal(seen.total, 512 << 20);
  assert.equal(seen.processors, 1);
});

test('IL06 load, memory and uptime of the host are hidden from sysinfo(2) too', { todo: 'a filter cannot change what a call returns; only a virtual machine could' }, async () => {
  const memory = await jar.inside(() => Number(String(cp.execFileSync('perl', ['-e', 'my $b = "\\0" x 128; syscall(99, $b); print unpack("x32 Q", $b)']))));
  assert.notEqual(memory, totalmem());
});

test('IL12 of secrets in files, sockets, shared memory, process arguments and variables of the host none is found', async () => {
  const places = [tmpdir(), '/var/tmp', '/run', '/dev/shm', home, '/opt', '/srv', '/etc'].map((place) => ownDirectory(`${secret}-`, place));
  for (const place of places) writeFileSync(join(place, `${secret}.txt`), secret, { mode: 0o644 });
  const decoy = spawn('sleep', ['30'], { env: { CANARY: secret }, argv0: secret, uid: user, gid: user });
  const listener = createServer((_, answer) => answer.end()).listen(`\0${secret}`);
  try {
    const search = (parts) => {
      const secret = parts.join('');
      if (parts.length > 2) fs.writeFileSync('/tmp/planted', secret);
      // Everything but the base layer by name and content, then what the kernel shows; the program's own text has no secret in one piece.
      const script = `find / -xdev -name '*${secret}*' 2>/dev/null; grep -rls ${secret} /etc /home /opt /root /run /srv /tmp /var /workspace /dev/shm /sys; cat /proc/net/unix /proc/[0-9]*/environ /proc/mounts 2>/dev/null | grep -ac "\${0}" | grep -v '^0'`;
      return String(cp.spawnSync('/bin/sh', ['-c', script, secret]).stdout);
    };
    const found = await jar.inside(search, { data: [secret.slice(0, 12), secret.slice(12)] });
    const control = await jar.inside(search, { data: [secret.slice(0, 12), secret.slice(12), ''] });
    assert.equal(control, '/tmp/planted\n', 'it finds what is there to be found');
    assert.equal(found, '');
  } finally {
    decoy.kill('SIGKILL');
    listener.close();
    for (const place of places) rmSync(place, { recursive: true });
  }
});

test('IL09 a program cannot watch what the host and other sandboxes run', { todo: 'inotify on the host\'s own inodes in /usr reports every open; an overlay per sandbox, or no inotify on /usr, would end that' }, async () => {
  const run = jar.inside(async () => {
    const perl = 'my $f = syscall(294, 0); my $p = "/usr/bin/true"; syscall(254, $f, $p, 0x20); $| = 1; print "watching\\n"; open(my $h, "<&=", $f); my $b = ""; sysread($h, $b, 4096); print length($b), "\\n"';
    const child = cp.spawn('perl', ['-e', perl]);
    let text = '';
    child.stdout.on('data', (bytes) => (text += bytes));
    await sleep(1200);
    child.kill();
    return text;
  });
  const end = Date.now() + 1000;
  while (Date.now() < end) {
    spawnSync('/usr/bin/true');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.equal(await run, 'watching\n');
});

test('HF20 HF21 a program\'s stdin, stdout and stderr are its own, not the server\'s', async () => {
  const forged = JSON.stringify({ jsonrpc: '2.0', id: 'forged', method: 'ping' });
  const { result } = await jar.server.request('tools/call', { name: 'run_js_ephemeral', arguments: { code: `import fs from 'node:fs'; import { execSync } from 'node:child_process';
    fs.writeSync(1, ${JSON.stringify(`${forged}\n`)});
    for (const fd of [0, 1, 2]) try { fs.writeSync(fs.openSync('/proc/self/fd/' + fd, 'r+'), ${JSON.stringify(`${forged}\n`)}) } catch {}
    execSync('python3 -c "import fcntl,os\\nfor fd in (0,1,2):\\n  fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) | os.O_NONBLOCK | 0o20000)\\n  fcntl.fcntl(fd, 8, os.getpid())" || true', { stdio: 'inherit' });` } });
  assert.ok(result.content[0].text.includes('forged'), 'it is output, and nothing but output');
  assert.ok(!jar.server.received.some(({ id }) => id === 'forged'));
  const flags = (fd) => parseInt(/^flags:\s+(\d+)/m.exec(String(spawnSync('cat', [`/proc/${jar.server.pid}/fdinfo/${fd}`]).stdout))[1], 8);
  assert.equal(flags(0) & 0o20000, 0, 'O_ASYNC on the server\'s stdin');
  assert.equal(flags(1) & 0o20000, 0, 'O_ASYNC on the server\'s stdout');
});

test('IL08 two sandboxes cannot talk by locks on files of the base layer', { todo: '/usr is the host\'s own inodes: flock() in one sandbox is seen in all, and on the host' }, async (t) => {
  const [one, two] = [await jar.session(t), await jar.session(t)];
  await jar.exec(one, 'flock /usr/bin/env -c "touch /tmp/held; sleep 20" >/dev/null 2>&1 & while [ ! -e /tmp/held ]; do sleep 0.01; done');
  assert.match((await jar.exec(two, 'flock -n /usr/bin/env echo free || echo taken')).text, /^free$/m);
});
