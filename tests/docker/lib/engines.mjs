// Container engines and a registry of the tests' own: sockets, data and processes in a directory of theirs, beside
// whatever engine the machine may have. As root.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';

import { processesWith } from '../../e2e/lib/proc.mjs';
import { until } from '../../e2e/lib/wait.mjs';
import { call } from './api.mjs';
import { makeCertificates } from './certificates.mjs';

// A program that runs until it is stopped; what it says is in `log`.
class Daemon {
  constructor(log, command, environment = {}) {
    this.log = log;
    const out = openSync(log, 'w');
    // In a group of its own: Ctrl-C is for the tests, which then stop it. In its directory: Podman's conmon leaves files where it was started.
    this.child = spawn(command[0], command.slice(1), { cwd: dirname(log), stdio: ['ignore', out, out], detached: true, env: { ...process.env, ...environment } });
    closeSync(out);
    this.child.on('error', (error) => { this.failure = error; });
    this.ended = new Promise((resolve) => { this.child.once('exit', resolve).once('error', resolve); });
  }

  get isRunning() { return !this.failure && this.child.exitCode === null && this.child.signalCode === null; }

  // Resolves once `probe` says that it works.
  async ready(what, probe) {
    await until(`${what} to start (${this.log})`, async () => {
      if (!this.isRunning) throw new Error(`${what} ended: ${this.failure ?? readFileSync(this.log, 'utf8').slice(-2000)}`);
      return probe();
    }, 60_000);
  }

  async stop(signal = 'SIGTERM') {
    if (this.isRunning) this.child.kill(signal);
    await this.ended;
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const answers = (socket) => async () => {
  try {
    return (await call(socket, 'GET', '/version')).status === 200;
  } catch {
    return false;
  }
};

// Besides runc: the same by another name, and gVisor where it is installed. Debian's takes every network for the host's on new
// kernels, so it is to have none; it needs none.
function runtimes() {
  const own = isInstalled('runsc') ? { runsc: { path: 'runsc', runtimeArgs: ['--network=none'] } } : {};
  return { second: { path: 'runc' }, ...own };
}

export class Docker {
  constructor(directory) {
    this.directory = directory;
    this.socket = `${directory}/docker.sock`;
    this.certificates = `${directory}/certificates`;
  }

  // `flags`: more of dockerd's own. Also listens at `address` to clients that have the certificates of `certificates`.
  async start(flags = []) {
    if (!existsSync(this.certificates)) makeCertificates(this.certificates);
    this.address ??= `tcp://127.0.0.1:${await freePort()}`;
    writeFileSync(`${this.directory}/daemon.json`, JSON.stringify({ runtimes: runtimes() }));
    const tls = ['--tlsverify', '--tlscacert', `${this.certificates}/ca.pem`, '--tlscert', `${this.certificates}/server.pem`, '--tlskey', `${this.certificates}/server-key.pem`];
    // Without a bridge and iptables: nothing of the host's network is touched.
    const command = ['dockerd', '--host', `unix://${this.socket}`, '--data-root', `${this.directory}/data`, '--exec-root', `${this.directory}/exec`,
      '--pidfile', `${this.directory}/docker.pid`, '--bridge=none', '--iptables=false', '--ip6tables=false',
      '--config-file', `${this.directory}/daemon.json`,
      '--host', this.address, ...tls, ...flags];
    this.daemon = new Daemon(`${this.directory}/docker.log`, command);
    await this.daemon.ready('dockerd', answers(this.socket));
  }

  // With 'SIGKILL' containers stay. Its containerd dies with it; where nobody reaps that, the next dockerd would take it for alive.
  async stop(signal) {
    await this.daemon.stop(signal);
    if (signal === 'SIGKILL') rmSync(`${this.directory}/exec/containerd/containerd.pid`, { force: true });
  }

  // Everything that start() made.
  async remove() {
    await this.stop();
    // What a killed containerd ran is nobody's after it.
    for (const { pid } of processesWith(`${this.directory}/exec/containerd`)) process.kill(pid, 'SIGKILL');
    unmountBeneath(this.directory);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

export class Podman {
  constructor(directory) {
    this.directory = directory;
    this.socket = `${directory}/podman.sock`;
  }

  async start() {
    mkdirSync(this.directory, { recursive: true });
    const registries = `${this.directory}/registries.conf`;
    writeFileSync(registries, '[[registry]]\nlocation = "127.0.0.1"\ninsecure = true\n');
    // Debian's crun, which Podman would prefer, refuses hosts with cgroups of both versions.
    const settings = `${this.directory}/containers.conf`;
    writeFileSync(settings, '[engine]\nruntime = "runc"\n');
    const command = ['podman', '--root', `${this.directory}/data`, '--runroot', `${this.directory}/run`, '--tmpdir', `${this.directory}/tmp`,
      'system', 'service', '--time=0', `unix://${this.socket}`];
    this.daemon = new Daemon(`${this.directory}/podman.log`, command, { CONTAINERS_REGISTRIES_CONF: registries, CONTAINERS_CONF: settings });
    await this.daemon.ready('podman', answers(this.socket));
  }

  stop(signal) { return this.daemon.stop(signal); }

  async remove() {
    await this.stop();
    unmountBeneath(this.directory);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

// Debian's docker-registry, on a port of the loopback interface that the kernel chooses. `users`: lines of an htpasswd file,
// with passwords as bcrypt has them, if nobody else may ask it for anything.
export class Registry {
  constructor(directory, users) { Object.assign(this, { directory, users }); }

  async start() {
    mkdirSync(this.directory, { recursive: true });
    const configuration = { version: 0.1, storage: { filesystem: { rootdirectory: `${this.directory}/data` } }, http: { addr: '127.0.0.1:0' } };
    if (this.users) {
      const path = `${this.directory}/htpasswd`;
      writeFileSync(path, this.users);
      configuration.auth = { htpasswd: { realm: 'belljar tests', path } };
    }
    writeFileSync(`${this.directory}/config.yml`, JSON.stringify(configuration));
    this.daemon = new Daemon(`${this.directory}/registry.log`, ['docker-registry', 'serve', `${this.directory}/config.yml`]);
    await this.daemon.ready('docker-registry', () => {
      this.address = /listening on (127\.0\.0\.1:\d+)/.exec(readFileSync(this.daemon.log, 'utf8'))?.[1];
      return this.address;
    });
  }

  async remove() {
    await this.daemon.stop();
    rmSync(this.directory, { recursive: true, force: true });
  }
}

// What an engine that was killed has left mounted, the innermost first.
function unmountBeneath(directory) {
  const places = readFileSync('/proc/self/mounts', 'utf8').split('\n').map((line) => line.split(' ')[1] ?? '').filter((place) => place.startsWith(`${directory}/`));
  for (const place of places.reverse()) spawnSync('umount', ['--lazy', place]);
}

export const isInstalled = (program) => spawnSync('sh', ['-c', `command -v "${program}"`]).status === 0;
