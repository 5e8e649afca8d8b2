// Runs a command beside a container engine of its own, and ends with its status:
//
//   node with_engine.mjs docker|podman NODE COMMAND…
//
// NODE is the Node.js of the test image. The command finds in its environment
//   BELLJAR_TEST_DOCKER           the path of the engine's socket
//   BELLJAR_TEST_DOCKER_IMAGE     an image that the engine has, with busybox and Node.js
//   BELLJAR_TEST_DOCKER_REGISTRY  HOST:PORT of a registry with the images small:1 and large:1 (4 MiB), which the engine does not have
//   BELLJAR_TEST_DOCKER_PRIVATE   HOST:PORT of one that asks who is there, with node:1 (something that prints 24.0.0)
//   BELLJAR_TEST_DOCKER_LOGIN     USER:PASSWORD for that
//   BELLJAR_TEST_DOCKER_PID       the process of the engine
// and with Docker
//   BELLJAR_TEST_DOCKER_TLS       tcp://127.0.0.1:PORT, where it also listens
//   BELLJAR_TEST_DOCKER_CERTS     a directory with the certificates for that
//   BELLJAR_TEST_DOCKER_OWN_KERNEL  the name of a runtime with which containers have a kernel of their own, if it is installed
// Status 77 if the engine is not installed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';

import { Docker, Podman, Registry, isInstalled } from './lib/engines.mjs';
import { importFile, importImage, importSmall, publish } from './lib/image.mjs';

const [kind, node, ...command] = process.argv.slice(2);
const program = { docker: 'dockerd', podman: 'podman' }[kind];
if (!program || command.length === 0) throw new Error('usage: with_engine.mjs docker|podman NODE COMMAND…');
for (const needed of [program, 'docker-registry', 'busybox']) {
  if (isInstalled(needed)) continue;
  console.error(`${needed} is not installed: scripts/setup docker`);
  process.exit(77);
}

const directory = mkdtempSync('/var/tmp/belljar-engine-');
const engine = new { docker: Docker, podman: Podman }[kind](`${directory}/engine`);
const registry = new Registry(`${directory}/registry`);
// The password as bcrypt has it; one with a colon, which also stands between user and password.
const login = { username: 'tester', password: 'not:for-logs' };
const guarded = new Registry(`${directory}/private`, `${login.username}:$2y$04$belljarbelljarbelljaruAYIzVNujt5q3U3ihbldsgHPUKJFyw6W\n`);

async function prepare() {
  await Promise.all([engine.start(), registry.start(), guarded.start()]);
  await importImage(engine.socket, 'localhost/belljar-test', '1', node);
  for (const [name, bytes] of [['small', 6], ['large', 4 << 20]]) {
    await importFile(engine.socket, `localhost/${name}`, '1', bytes);
    await publish(engine.socket, name, '1', registry.address);
  }
  await importSmall(engine.socket, 'localhost/node', '1');
  await publish(engine.socket, 'node', '1', guarded.address, login);
  return {
    BELLJAR_TEST_DOCKER: engine.socket,
    BELLJAR_TEST_DOCKER_IMAGE: 'localhost/belljar-test:1',
    BELLJAR_TEST_DOCKER_REGISTRY: registry.address,
    BELLJAR_TEST_DOCKER_PRIVATE: guarded.address,
    BELLJAR_TEST_DOCKER_LOGIN: `${login.username}:${login.password}`,
    BELLJAR_TEST_DOCKER_PID: String(engine.daemon.child.pid),
    BELLJAR_TEST_DOCKER_TLS: engine.address ?? '',
    BELLJAR_TEST_DOCKER_CERTS: engine.certificates ?? '',
    BELLJAR_TEST_DOCKER_OWN_KERNEL: kind === 'docker' && isInstalled('runsc') ? 'runsc' : '',
  };
}

let child;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child?.kill(signal));
try {
  const environment = await prepare();
  child = spawn(command[0], command.slice(1), { stdio: 'inherit', env: { ...process.env, ...environment } });
  const [status] = await once(child, 'exit');
  process.exitCode = status ?? 1;
} finally {
  await Promise.allSettled([engine.daemon && engine.remove(), registry.daemon && registry.remove(), guarded.daemon && guarded.remove()]);
  rmSync(directory, { recursive: true, force: true });
}
