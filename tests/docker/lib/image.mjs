// The image of the tests, from scratch: busybox as its shell, and a Node.js runtime of belljar's with the libraries of
// this host's that it needs.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { must } from './api.mjs';

const busybox = '/bin/busybox';

function libraries(program) {
  const listed = execFileSync('ldd', [program], { encoding: 'utf8' });
  return [...new Set([...listed.matchAll(/(?:=> )?(\/[^\s]+) \(0x/g)].map(([, path]) => path))];
}

function fill(root, node) {
  const put = (from, to) => {
    mkdirSync(dirname(root + to), { recursive: true });
    copyFileSync(from, root + to);
  };
  put(busybox, '/bin/busybox');
  mkdirSync(`${root}/usr/bin`, { recursive: true });
  for (const name of execFileSync(busybox, ['--list'], { encoding: 'utf8' }).trim().split('\n')) {
    if (name !== 'busybox') symlinkSync('busybox', `${root}/bin/${name}`);
    symlinkSync('/bin/busybox', `${root}/usr/bin/${name}`);
  }
  put(node, '/usr/local/bin/node');
  put('/usr/bin/perl', '/usr/bin/perl'); // of perl-base, which every Debian has: makes system calls for tests of attacks
  for (const library of [...libraries(node), ...libraries('/usr/bin/perl')]) put(library, library);
  const npm = `${dirname(node)}/../lib/node_modules/npm`;
  if (existsSync(npm)) {
    cpSync(npm, `${root}/usr/local/lib/node_modules/npm`, { recursive: true });
    for (const name of ['npm', 'npx']) symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, `${root}/usr/local/bin/${name}`);
  }
  for (const directory of ['dev', 'etc', 'home/node', 'proc', 'sys', 'tmp', 'workspace']) mkdirSync(`${root}/${directory}`, { recursive: true });
  writeFileSync(`${root}/etc/passwd`, 'root:x:0:0:root:/root:/bin/sh\nnode:x:1000:1000::/home/node:/bin/sh\n');
  writeFileSync(`${root}/etc/group`, 'root:x:0:\nnode:x:1000:\n');
}

// Gives what `make` puts into a directory to an engine, as NAME:TAG.
async function importTree(socket, name, tag, make) {
  const root = mkdtempSync('/var/tmp/belljar-image-');
  try {
    make(root);
    const archive = spawn('tar', ['--create', '--numeric-owner', '--owner=0', '--group=0', '--directory', root, '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const changes = encodeURIComponent('ENV PATH=/usr/local/bin:/usr/bin:/bin');
    // The tag is part of the name: Podman does not look for it elsewhere.
    await must(socket, 'POST', `/v1.41/images/create?fromSrc=-&repo=${encodeURIComponent(`${name}:${tag}`)}&changes=${changes}`, archive.stdout);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

// NODE is the path of a Node.js of this host's.
export const importImage = (socket, name, tag, node) => importTree(socket, name, tag, (root) => fill(root, node));

// One file of so many bytes that cannot be packed: for what is pulled and not run.
export const importFile = (socket, name, tag, bytes) => importTree(socket, name, tag, (root) => writeFileSync(`${root}/file`, randomBytes(bytes)));

// A program in the place of Node.js that only tells its version: an image that runs, and is small.
export const importSmall = (socket, name, tag) => importTree(socket, name, tag, (root) => {
  const programs = { [busybox]: busybox };
  if (spawnSync('ldd', [busybox]).status === 0) for (const library of libraries(busybox)) programs[library] = library;
  for (const [from, to] of Object.entries(programs)) {
    mkdirSync(dirname(root + to), { recursive: true });
    copyFileSync(from, root + to);
  }
  mkdirSync(`${root}/usr/local/bin`, { recursive: true });
  writeFileSync(`${root}/usr/local/bin/node`, `#!${busybox} sh\necho 24.0.0\n`, { mode: 0o755 });
});

// Moves localhost/NAME:TAG from the engine to the registry at `address`, as whom `login` ({ username, password }) says.
export async function publish(socket, name, tag, address, login = {}) {
  const here = `localhost/${name}:${tag}`;
  const there = `${address}/${name}`;
  await must(socket, 'POST', `/v1.41/images/${here}/tag?repo=${encodeURIComponent(there)}&tag=${tag}`);
  const headers = { 'X-Registry-Auth': Buffer.from(JSON.stringify(login)).toString('base64') };
  await must(socket, 'POST', `/v1.41/images/${there}/push?tag=${tag}`, undefined, headers);
  for (const gone of [`${there}:${tag}`, here]) await must(socket, 'DELETE', `/v1.41/images/${gone}`);
}
