// What a run changed in ./files, as the official SDK sees it: in a directory of the sandbox, and in FILES_DIR.
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { after, afterEach, before, describe, test } from 'node:test';

import { connect } from './lib/client.mjs';
import { ownDirectory } from './lib/directories.mjs';

const fs = "import fs from 'node:fs';\n";

// What a program did, after another had prepared the directory, and the lines about it.
const reports = {
  'a new file': { run: "fs.writeFileSync('files/a', 'x')", lines: ['a was created'] },
  'a changed file': { prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.appendFileSync('files/a', 'y')", lines: ['a was updated'] },
  'a deleted file': { prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.unlinkSync('files/a')", lines: ['a was deleted'] },
  'an empty file': { run: "fs.writeFileSync('files/empty', '')", lines: ['empty was created'] },
  'an empty directory': { run: "fs.mkdirSync('files/d')", lines: ['d/ was created'] },
  'a deleted directory': { prepare: "fs.mkdirSync('files/d')", run: "fs.rmdirSync('files/d')", lines: ['d/ was deleted'] },
  'nested paths': {
    run: "fs.mkdirSync('files/d/e', { recursive: true }); fs.writeFileSync('files/d/e/f', 'x')",
    lines: ['d/ was created', 'd/e/ was created', 'd/e/f was created'],
  },
  'a renamed file': {
    prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.renameSync('files/a', 'files/b')", lines: ['a was deleted', 'b was created'],
  },
  'a renamed directory': {
    prepare: "fs.mkdirSync('files/d'); fs.writeFileSync('files/d/f', 'x')", run: "fs.renameSync('files/d', 'files/e')",
    lines: ['d/ was deleted', 'd/f was deleted', 'e/ was created', 'e/f was created'],
  },
  'a file replaced by another of the same name': {
    prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.writeFileSync('files/b', 'x'); fs.renameSync('files/b', 'files/a')", lines: ['a was updated'],
  },
  'a file that became a directory': {
    prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.unlinkSync('files/a'); fs.mkdirSync('files/a')", lines: ['a was deleted', 'a/ was created'],
  },
  'an edit that keeps size and modification time': {
    prepare: "fs.writeFileSync('files/a', 'one')",
    run: "const { atime, mtime } = fs.statSync('files/a'); fs.writeFileSync('files/a', 'two'); fs.utimesSync('files/a', atime, mtime)",
    lines: ['a was updated'],
  },
  'a link': { run: "fs.symlinkSync('/etc/passwd', 'files/l')", lines: ['l was created (symbolic link, not followed)'] },
  'nothing, when files are only read': {
    prepare: "fs.writeFileSync('files/a', 'x')", run: "fs.readFileSync('files/a'); fs.readdirSync('files')", lines: [],
  },
  'nothing, when what was made is gone at the end': { run: "fs.writeFileSync('files/a', 'x'); fs.unlinkSync('files/a')", lines: [] },
  'nothing that lies elsewhere': {
    run: "for (const path of ['a', '/tmp/a', 'files2', '../home/node/a', 'node_modules']) fs.writeFileSync(path, 'x')", lines: [],
  },
};

const head = { png: '89504e470d0a1a0a', jpeg: 'ffd8ffe0', gif: '474946383961', webp: '524946460400000057454250' };
const images = {
  'p.png': ['image/png', `Buffer.from('${head.png}0000000d49484452', 'hex')`],
  'p.jpg': ['image/jpeg', `Buffer.from('${head.jpeg}00104a464946', 'hex')`],
  'p.gif': ['image/gif', `Buffer.from('${head.gif}01000100', 'hex')`],
  'p.webp': ['image/webp', `Buffer.from('${head.webp}', 'hex')`],
  'p.svg': ['image/svg+xml', "'<svg xmlns=\"http://www.w3.org/2000/svg\"/>'"],
};

// The bytes that a file URI stands for.
const bytesOf = (uri) => Buffer.from(uri.replace(/%([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))), 'latin1');

for (const [mode, shared] of [['without FILES_DIR', false], ['with FILES_DIR', true]]) {
  describe(mode, () => {
    let client;
    let root; // where the URIs say that the files are
    let directory;
    before(async () => {
      directory = shared ? ownDirectory('belljar-files-') : undefined;
      root = directory ?? '/workspace/files';
      client = await connect({ env: shared ? { FILES_DIR: directory } : {} });
    });
    after(async () => {
      await client.close();
      if (shared) rmSync(directory, { recursive: true });
    });
    afterEach(() => {
      if (shared) for (const name of readdirSync(directory, 'buffer')) rmSync(Buffer.concat([Buffer.from(`${directory}/`), name]), { recursive: true });
    });

    for (const [what, { prepare, run, lines }] of Object.entries(reports)) {
      test(`the report has ${what}`, async (t) => {
        const session = await client.session(t);
        if (prepare) await session.run(fs + prepare);
        const result = await session.run(fs + run);
        assert.deepEqual(result.changes, lines);
        assert.deepEqual(result.files.map((file) => `${file.path} was ${file.change}`), lines.map((line) => line.replace(/ \(.*/, '')));
      });
    }

    test('a run in a fresh sandbox has a report too, with sizes, types and URIs', async () => {
      const { files } = await client.run(`${fs} fs.mkdirSync('files/a b'); fs.writeFileSync('files/a b/data.json', '{"ü":1}')`);
      assert.deepEqual(files, [
        { path: 'a b/', change: 'created', size: 0, mimeType: null, uri: `file://${root}/a%20b` },
        { path: 'a b/data.json', change: 'created', size: 8, mimeType: 'application/json', uri: `file://${root}/a%20b/data.json` },
      ]);
    });

    test('a failed run has its report as well', async () => {
      const result = await client.call('run_js_ephemeral', { code: `${fs} fs.writeFileSync('files/a', 'x'); process.exit(3)` });
      assert.equal(result.isError, true);
      assert.deepEqual(result.changes, ['a was created']);
    });

    for (const [name, [mimeType, content]] of Object.entries(images)) {
      test(`${mimeType} is shown as an image`, async () => {
        const { fileBlocks, stdout } = await client.run(`${fs} const content = Buffer.from(${content});
          fs.writeFileSync('files/${name}', content); process.stdout.write(content.toString('base64'))`);
        assert.deepEqual(fileBlocks, [
          { type: 'image', data: stdout, mimeType },
          { type: 'resource', resource: { uri: `file://${root}/${name}`, mimeType, text: name } },
        ]);
      });
    }

    test('an image of 5 MB is shown, one beyond the limit is a link', async () => {
      const { fileBlocks } = await client.run(`${fs} for (const [name, size] of [['a.png', 5e6], ['b.png', 9e6]])
        fs.writeFileSync('files/' + name, Buffer.concat([Buffer.from('${head.png}', 'hex'), Buffer.alloc(size - 8, 7)]))`);
      assert.deepEqual(fileBlocks.map((block) => block.type), ['image', 'resource_link', 'resource_link']);
      assert.equal(Buffer.from(fileBlocks[0].data, 'base64').length, 5e6);
      assert.deepEqual(fileBlocks[2], { type: 'resource_link', uri: `file://${root}/b.png`, name: 'b.png', mimeType: 'image/png', size: 9e6 });
    });

    test('other files are resources', async () => {
      const { fileBlocks } = await client.run(`${fs} fs.writeFileSync('files/a.csv', 'ä,b'); fs.writeFileSync('files/b.bin', Buffer.from('00ff', 'hex'));
        fs.writeFileSync('files/c.txt', '')`);
      const [text, bytes, empty] = fileBlocks.map((block) => block.resource);
      assert.deepEqual(text, { uri: `file://${root}/a.csv`, mimeType: 'text/csv', text: shared ? 'a.csv' : 'ä,b' });
      const content = shared ? { text: 'b.bin' } : { blob: 'AP8=' };
      assert.deepEqual(bytes, { uri: `file://${root}/b.bin`, mimeType: 'application/octet-stream', ...content });
      assert.deepEqual(empty.text, shared ? 'c.txt' : '');
    });

    test('a file beyond the limit is a link', async () => {
      const { fileBlocks } = await client.run(`${fs} fs.writeFileSync('files/a.txt', 'x'.repeat(2 << 20))`);
      assert.deepEqual(fileBlocks, [{ type: 'resource_link', uri: `file://${root}/a.txt`, name: 'a.txt', mimeType: 'text/plain', size: 2 << 20 }]);
    });

    test('deleted files, directories and links have no blocks', async (t) => {
      const session = await client.session(t);
      await session.run(`${fs} fs.writeFileSync('files/a', 'x')`);
      const { fileBlocks, changes } = await session.run(`${fs} fs.unlinkSync('files/a'); fs.mkdirSync('files/d'); fs.symlinkSync('d', 'files/l')`);
      assert.equal(changes.length, 3);
      assert.deepEqual(fileBlocks, []);
    });

    test('of many files some are listed and returned, and the report says how many more there are', async () => {
      const { changes, files, fileBlocks } = await client.run(`${fs} for (let i = 0; i < 700; i++) fs.writeFileSync('files/' + i, '')`);
      assert.equal(files.length, 500);
      assert.equal(fileBlocks.length, 100);
      assert.equal(changes.filter((line) => line.endsWith(' was created')).length, 500);
      assert.ok(changes.includes('… and 200 more'), changes.slice(500).join());
    });

    test('the directory of a session with many files is followed exactly', async (t) => {
      const session = await client.session(t);
      await session.run(`${fs} for (let d = 0; d < 3; d++) { fs.mkdirSync('files/d' + d); for (let i = 0; i < 300; i++) fs.writeFileSync('files/d' + d + '/' + i, '') }`);
      const steps = [
        ['', []],
        ["fs.writeFileSync('files/d1/7', 'x')", ['d1/7 was updated']],
        ["fs.mkdirSync('files/n/m', { recursive: true }); fs.writeFileSync('files/n/m/o', 'x')", ['n/ was created', 'n/m/ was created', 'n/m/o was created']],
        ["fs.renameSync('files/n', 'files/r')", ['n/ was deleted', 'n/m/ was deleted', 'n/m/o was deleted', 'r/ was created', 'r/m/ was created', 'r/m/o was created']],
        ["fs.writeFileSync('files/r/m/o', 'y')", ['r/m/o was updated']],
        ["fs.unlinkSync('files/d0/0'); fs.renameSync('files/d1/1', 'files/d2/new')", ['d0/0 was deleted', 'd1/1 was deleted', 'd2/new was created']],
        ["fs.linkSync('files/d0/1', 'files/r/hard')", ['d0/1 was updated', 'r/hard was created']],
        ["fs.rmSync('files/r', { recursive: true })", ['d0/1 was updated', 'r/ was deleted', 'r/hard was deleted', 'r/m/ was deleted', 'r/m/o was deleted']],
      ];
      for (const [code, lines] of steps) assert.deepEqual((await session.run(fs + code)).changes, lines, code);
    });

    test('names of any bytes are one line, and their URIs lead back to them', async () => {
      const names = {
        'line\nbreak': 'line\\nbreak', "quote ' and \"": "quote ' and \"", '100%': '100%', 'a%20b': 'a%20b', 'ünïcödé 名前 🦊': 'ünïcödé 名前 🦊',
        [`${'x'.repeat(251)}.txt`]: `${'x'.repeat(251)}.txt`, '#?&;': '#?&;', 'back\\slash': 'back\\\\slash', ' ': ' ', '-rf': '-rf', '\u001b[31m': '\\u{1b}[31m',
        '\u202egnp.exe': '\\u{202e}gnp.exe',
      };
      const made = [...Object.keys(names).map((name) => Buffer.from(name).toString('hex')), 'ff61', '61c3'];
      const { changes, files, fileBlocks } = await client.run(`${fs} for (const hex of ${JSON.stringify(made)})
        fs.writeFileSync(Buffer.concat([Buffer.from('files/'), Buffer.from(hex, 'hex')]), '')`);
      const shown = [...Object.values(names), '\ufffda', 'a\ufffd'];
      assert.deepEqual([...changes].sort(), shown.map((name) => `${name} was created`).sort());
      const prefix = `file://${root}/`;
      for (const uris of [files.map((file) => file.uri), fileBlocks.map((block) => block.resource.uri)]) {
        assert.deepEqual(uris.map((uri) => bytesOf(uri.slice(prefix.length)).toString('hex')).sort(), [...made].sort());
      }
    });

    test('programs that run at the same time in one session each have their own file in their report', async (t) => {
      const session = await client.session(t);
      const meet = (own, other) => session.run(`${fs} fs.writeFileSync('files/${own}', ''); while (!fs.existsSync('files/${other}'));`);
      const [one, two] = await Promise.all([meet('one', 'two'), meet('two', 'one')]);
      assert.ok(one.changes.includes('one was created') && two.changes.includes('two was created'));
    });
  });
}

describe('a program that attacks ./files itself', () => {
  let client;
  before(async () => (client = await connect()));
  after(() => client.close());
  const lines = ['a was deleted', 'd/ was deleted', 'd/f was deleted'];
  const prepare = `${fs} fs.writeFileSync('files/a', 'x'); fs.mkdirSync('files/d'); fs.writeFileSync('files/d/f', 'x')`;

  for (const [what, code] of Object.entries({
    'removes it': '',
    'puts a link in its place': "fs.symlinkSync('/etc', 'files');",
    'puts a link to a folder of its own in its place': "fs.mkdirSync('own'); fs.writeFileSync('own/a', 'x'); fs.symlinkSync('own', 'files');",
    'puts a file in its place': "fs.writeFileSync('files', 'x');",
    'puts a FIFO in its place': "import { execSync } from 'node:child_process'; execSync('mkfifo files');",
  })) {
    test(`what was in it is deleted when the program ${what}`, async (t) => {
      const session = await client.session(t);
      await session.run(prepare);
      const result = await session.run(`${fs} fs.rmSync('files', { recursive: true }); ${code}`);
      assert.deepEqual(result.changes, lines);
      assert.deepEqual(result.fileBlocks, []);
      const next = await session.run(`${fs} fs.rmSync('files', { recursive: true, force: true }); fs.mkdirSync('files'); fs.writeFileSync('files/new', 'x')`);
      assert.deepEqual(next.changes, ['new was created']);
    });
  }

  test('a directory that nobody may read counts as unchanged', async (t) => {
    const session = await client.session(t);
    await session.run(prepare);
    const result = await session.run(`${fs} fs.chmodSync('files', 0)`);
    assert.equal(result.isError, false);
  });
});
