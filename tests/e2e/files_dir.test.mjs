// FILES_DIR: which directories can be shared, who owns what is made there, and file systems that do not cooperate.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';

import { belljar, cli } from './lib/belljar.mjs';
import { connect } from './lib/client.mjs';
import { temporaryDirectory, temporaryMount } from './lib/directories.mjs';

const fs = "import fs from 'node:fs';\n";
const uid = 1234;
const gid = 2345;

async function serve(t, options) {
  const client = await connect(options);
  t.after(() => client.close());
  return client;
}

describe('the directory', () => {
  // Everything that a program can make, by its name.
  const make = `${fs} fs.writeFileSync('files/file', 'x'); fs.mkdirSync('files/folder'); fs.symlinkSync('file', 'files/link');
    fs.linkSync('files/file', 'files/hard'); fs.writeFileSync('files/folder/nested', 'x', { mode: 0o600 });`;

  test('gets files that belong to whoever owns it', async (t) => {
    const directory = temporaryDirectory(t);
    chownSync(directory, uid, gid);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    await client.run(make);
    for (const name of ['file', 'folder', 'link', 'hard', 'folder/nested']) {
      const info = lstatSync(join(directory, name));
      assert.deepEqual([info.uid, info.gid], [uid, gid], name);
    }
    assert.equal(readFileSync(join(directory, 'folder/nested'), 'utf8'), 'x');
  });

  test('belongs to the program inside', async (t) => {
    const directory = temporaryDirectory(t);
    chownSync(directory, uid, gid);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const { stdout } = await client.run(`${make} for (const path of ['files', 'files/file']) console.log(fs.statSync(path).uid, fs.statSync(path).gid)`);
    assert.equal(stdout, '1000 1000\n1000 1000\n');
  });

  test('keeps its own owner and mode', async (t) => {
    const directory = temporaryDirectory(t);
    chownSync(directory, uid, gid);
    chmodSync(directory, 0o750);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    await client.run(make);
    const { uid: owner, gid: group, mode } = lstatSync(directory);
    assert.deepEqual([owner, group, mode & 0o7777], [uid, gid, 0o750]);
  });

  test('has the files that were there before', async (t) => {
    const directory = temporaryDirectory(t);
    mkdirSync(join(directory, 'sub'));
    writeFileSync(join(directory, 'sub/data.txt'), 'from the host');
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const result = await client.run(`${fs} console.log(fs.readFileSync('files/sub/data.txt', 'utf8'))`);
    assert.equal(result.stdout, 'from the host\n');
    assert.deepEqual(result.changes, []);
  });

  test('is the same for all sandboxes', async (t) => {
    const directory = temporaryDirectory(t);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    await client.run(`${fs} fs.writeFileSync('files/a', 'one')`);
    const { stdout, changes } = await client.run(`${fs} console.log(fs.readFileSync('files/a', 'utf8')); fs.writeFileSync('files/a', 'two')`);
    assert.equal(stdout, 'one\n');
    assert.deepEqual(changes, ['a was updated']);
  });

  test('cannot be removed or replaced by a program', async (t) => {
    const directory = temporaryDirectory(t);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const { stdout } = await client.run(`${fs} for (const attempt of [() => fs.rmdirSync('files'), () => fs.renameSync('files', 'other')])
      try { attempt(); console.log('done'); } catch (error) { console.log(error.code); }`);
    assert.equal(stdout, 'EBUSY\nEBUSY\n');
  });

  test('has files of other owners, which a program reads and replaces as their modes and the directory\'s allow', async (t) => {
    const directory = temporaryDirectory(t);
    chownSync(directory, uid, gid);
    writeFileSync(join(directory, 'public'), 'public', { mode: 0o644 });
    writeFileSync(join(directory, 'private'), 'private', { mode: 0o600 });
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const { stdout } = await client.run(`${fs} const outcome = (attempt) => { try { return attempt(); } catch (error) { return error.code; } };
      console.log(JSON.stringify([outcome(() => fs.readFileSync('files/public', 'utf8')), outcome(() => fs.readFileSync('files/private', 'utf8')),
        outcome(() => fs.writeFileSync('files/public', 'x')), fs.statSync('files/public').uid]))`);
    assert.deepEqual(JSON.parse(stdout), ['public', 'EACCES', 'EACCES', 65534]);
    assert.equal(readFileSync(join(directory, 'public'), 'utf8'), 'public');
  });

  test('lives on when the host replaces it by another one', async (t) => {
    const parent = temporaryDirectory(t);
    const directory = join(parent, 'files');
    mkdirSync(directory);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    await client.run(`${fs} fs.writeFileSync('files/a', 'x')`);
    rmSync(directory, { recursive: true });
    mkdirSync(directory);
    const result = await client.call('run_js_ephemeral', { code: 'console.log(1)' });
    assert.equal(result.stdout ?? '', '1\n', result.text);
    assert.deepEqual(readdirSync(directory), []);
  });
});

describe('the setting', () => {
  const write = `${fs} fs.writeFileSync('files/a', 'x')`;
  const works = async (t, directory, options) => {
    const client = await serve(t, options);
    await client.run(write);
    assert.deepEqual(readdirSync(directory), ['a']);
  };

  test('has an older name', async (t) => {
    const directory = temporaryDirectory(t);
    await works(t, directory, { env: { JS_SANDBOX_OUTPUT_DIR: directory } });
  });

  test('is taken by its newer name if both are set', async (t) => {
    const directory = temporaryDirectory(t);
    await works(t, directory, { env: { FILES_DIR: directory, JS_SANDBOX_OUTPUT_DIR: temporaryDirectory(t) } });
  });

  test('is a flag, which goes before the variable', async (t) => {
    const directory = temporaryDirectory(t);
    await works(t, directory, { args: ['mcp', '--files-dir', directory], env: { FILES_DIR: temporaryDirectory(t) } });
  });

  test('is a line of the configuration file', async (t) => {
    const directory = temporaryDirectory(t);
    const config = join(temporaryDirectory(t), 'config.toml');
    writeFileSync(config, `files-dir = ${JSON.stringify(directory)}\n`);
    await works(t, directory, { env: { BELLJAR_CONFIG: config } });
  });

  test('may lead through a link', async (t) => {
    const directory = temporaryDirectory(t);
    const link = join(temporaryDirectory(t), 'link');
    symlinkSync(directory, link);
    await works(t, directory, { env: { FILES_DIR: link } });
  });

  test('may be on a tmpfs', async (t) => {
    const directory = temporaryMount(t, '-t', 'tmpfs', 'tmpfs');
    await works(t, directory, { env: { FILES_DIR: directory } });
  });

  test('is shown with its origin', async (t) => {
    const directory = temporaryDirectory(t);
    const { stdout } = await cli(['config'], { env: { FILES_DIR: directory } });
    assert.match(stdout.split('\n').find((line) => line.includes(directory)) ?? '', /FILES_DIR/);
  });

  for (const [what, path, message] of [
    ['is missing', '/nonexistent/directory', /No such file or directory/],
    ['is a file', '/etc/passwd', /Not a directory/],
    ['is the root', '/', /directory of the system/],
    ['is /etc', '/etc', /directory of the system/],
    ['is /etc by another name', '/usr/../etc/.', /directory of the system/],
    ['is the root by way of /proc', '/proc/self/root', /directory of the system/],
    ['is in /proc', '/proc/self', /directory of the system/],
    ['is in /etc', '/etc/ssl', /directory of the system/],
    ['is in /usr', '/usr/local/bin', /directory of the system/],
  ]) {
    test(`that ${what} is refused at start`, async () => {
      const { code, stderr, stdout } = await cli(['mcp'], { env: { FILES_DIR: path } });
      assert.notEqual(code, 0);
      assert.match(stderr, /FILES_DIR/);
      assert.match(stderr, message);
      assert.equal(stdout, '');
    });
  }
});

describe('a file system that does not cooperate', () => {
  test('read-only: a program is told so, and the server serves', async (t) => {
    const source = temporaryDirectory(t);
    writeFileSync(join(source, 'a'), 'x');
    const directory = temporaryMount(t, '--bind', '-o', 'ro', source);
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const result = await client.call('run_js_ephemeral', { code: `${fs} fs.writeFileSync('files/b', 'x')` });
    assert.equal(result.isError, true);
    assert.match(result.text, /EROFS/);
    assert.equal((await client.run(`${fs} console.log(fs.readFileSync('files/a', 'utf8'))`)).stdout, 'x\n');
  });

  test('full: a program is told so, and the server serves', async (t) => {
    const directory = temporaryMount(t, '-t', 'tmpfs', '-o', 'size=64k', 'tmpfs');
    const client = await serve(t, { env: { FILES_DIR: directory } });
    const result = await client.call('run_js_ephemeral', { code: `${fs} fs.writeFileSync('files/b', Buffer.alloc(1 << 20))` });
    assert.equal(result.isError, true);
    assert.match(result.text, /ENOSPC/);
    assert.match(result.text.split('\n')[0], /files/, 'the advice is about the files directory, not the disk of the sandbox');
    assert.equal((await client.run('console.log(1)')).stdout, '1\n');
  });

  test('without id-mapped mounts: belljar does not start and says what to choose instead', (t) => {
    const layers = temporaryDirectory(t);
    for (const name of ['lower', 'upper', 'work']) mkdirSync(join(layers, name));
    const options = ['lower', 'upper', 'work'].map((name) => `${name}dir=${join(layers, name)}`).join();
    const directory = temporaryMount(t, '-t', 'overlay', '-o', options, 'overlay');
    const { status, stderr } = spawnSync(belljar, ['mcp'], { env: { ...process.env, FILES_DIR: directory }, encoding: 'utf8', input: '' });
    assert.equal(status, 1);
    assert.match(stderr, /id-mapped mounts.*Choose/);
    assert.ok(stderr.includes(directory));
  });
});
