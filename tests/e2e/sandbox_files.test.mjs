// sandbox_write_files, sandbox_read_file and sandbox_list_files, with and without FILES_DIR.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, test } from 'node:test';

import { connect } from './lib/client.mjs';
import { ownDirectory } from './lib/directories.mjs';

const badPaths = ['../x', 'a/../../x', '/etc/passwd', '/workspace/x', '', '..', 'files/..', 'a\0b', `${'x'.repeat(5000)}`];

for (const [mode, shared] of [['without FILES_DIR', false], ['with FILES_DIR', true]]) {
  describe(mode, () => {
    const directory = shared ? ownDirectory('belljar-tools-') : undefined;
    let client;
    before(async () => (client = await connect({ env: shared ? { FILES_DIR: directory } : {} })));
    beforeEach(() => {
      if (shared) for (const name of readdirSync(directory)) rmSync(join(directory, name), { recursive: true });
    });
    after(async () => {
      await client.close();
      if (shared) rmSync(directory, { recursive: true });
    });

    const write = (session, ...files) => session.call('sandbox_write_files', { files });
    const read = (session, path, more = {}) => session.call('sandbox_read_file', { path, ...more });
    const list = async (session, more = {}) => {
      const result = await session.call('sandbox_list_files', more);
      assert.equal(result.isError, false, result.text);
      return Object.assign(result, { paths: result.entries.map(({ path, type }) => (type === 'directory' ? `${path}/` : path)) });
    };
    const fails = (result, pattern) => {
      assert.equal(result.isError, true, JSON.stringify(result).slice(0, 300));
      assert.match(result.text, pattern);
    };

    describe('sandbox_write_files', () => {
      test('writes several files, text and base64, with the directories they need', async (t) => {
        const session = await client.session(t);
        const bytes = randomBytes(5000);
        const result = await write(session, { path: 'a.txt', content: 'ä\n' }, { path: 'files/deep/er/b.bin', content: bytes.toString('base64'), encoding: 'base64' }, { path: 'lib/empty.js', content: '' });
        assert.equal(result.isError, false, result.text);
        assert.deepEqual(result.files, [{ path: 'a.txt', size: 3 }, { path: 'files/deep/er/b.bin', size: 5000 }, { path: 'lib/empty.js', size: 0 }]);
        const { stdout } = await session.run(`import fs from 'node:fs'; process.stdout.write(JSON.stringify([fs.readFileSync('a.txt', 'utf8'),
          fs.readFileSync('files/deep/er/b.bin', 'base64'), fs.readFileSync('lib/empty.js', 'utf8')]))`);
        assert.deepEqual(JSON.parse(stdout), ['ä\n', bytes.toString('base64'), '']);
        if (shared) assert.deepEqual(readFileSync(join(directory, 'deep/er/b.bin')), bytes);
      });

      test('writes modules that a program imports', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'lib/answer.js', content: 'export default 42;' });
        assert.equal((await session.run("import answer from './lib/answer.js'; console.log(answer)")).stdout, '42\n');
      });

      test('replaces files, and leaves the others', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'files/a', content: 'old, and longer' }, { path: 'files/b', content: 'kept' });
        await write(session, { path: 'files/a', content: 'new' });
        assert.equal((await read(session, 'files/a')).content[0].text, 'new');
        assert.equal((await read(session, 'files/b')).content[0].text, 'kept');
      });

      test('makes files that the programs own', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'files/a', content: 'x' });
        await session.run("import fs from 'node:fs'; fs.appendFileSync('files/a', 'y'); fs.chmodSync('files/a', 0o600); fs.unlinkSync('files/a')");
      });

      test('is not in the report of the next run', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'files/a', content: 'x' });
        assert.deepEqual((await session.run('1')).changes, []);
      });

      test('takes names that look like options, and any others', async (t) => {
        const session = await client.session(t);
        const names = ['-rf', '--help', 'a b', 'ü\n"', '*', '$(touch pwned)', `${'n'.repeat(200)}/${'m'.repeat(200)}`];
        const result = await write(session, ...names.map((name) => ({ path: `d/${name}`, content: name })));
        assert.equal(result.isError, false, result.text);
        const { stdout } = await session.run(`import fs from 'node:fs'; process.stdout.write(JSON.stringify(${JSON.stringify(names)}.map((name) => fs.readFileSync('d/' + name, 'utf8'))))`);
        assert.deepEqual(JSON.parse(stdout), names);
        assert.ok(!(await list(session)).paths.includes('pwned'));
      });

      for (const path of badPaths) {
        test(`refuses the path ${JSON.stringify(path).slice(0, 30)}, and writes nothing`, async (t) => {
          const session = await client.session(t);
          fails(await write(session, { path: 'good', content: 'x' }, { path, content: 'x' }), /files\[1\]\.path/);
          assert.ok(!(await list(session)).paths.includes('good'));
        });
      }

      test('follows a link of the sandbox into the sandbox only', async (t) => {
        const session = await client.session(t);
        const canary = mkdtempSync(join(tmpdir(), 'belljar-canary-'));
        t.after(() => rmSync(canary, { recursive: true }));
        await session.exec(`ln -s ${canary} out; ln -s /etc etc; ln -s ${canary}/file file; ln -s /tmp tmp`);
        await write(session, { path: 'out/x', content: 'x' });
        await write(session, { path: 'etc/x', content: 'x' });
        await write(session, { path: 'file', content: 'x' });
        await write(session, { path: 'tmp/x', content: 'x' });
        assert.deepEqual(readdirSync(canary), []);
        assert.equal(existsSync('/etc/x'), false);
      });

      test('says why a file cannot be written', async (t) => {
        const session = await client.session(t);
        await session.exec('mkdir -p d/e; echo x > file');
        fails(await write(session, { path: 'd', content: 'x' }), /could not be written.*d/s);
        fails(await write(session, { path: 'file/x', content: 'x' }), /could not be written.*file/s);
        fails(await write(session, { path: 'x', content: 'not base64!', encoding: 'base64' }), /files\[0\]\.content/);
      });

      test('has limits', async (t) => {
        const session = await client.session(t);
        fails(await write(session, ...Array.from({ length: 201 }, (_, n) => ({ path: `${n}`, content: '' }))), /files/);
        fails(await write(session, { path: 'a', content: 'x'.repeat(5 << 20) }, { path: 'b', content: 'x'.repeat(5 << 20) }), /10 MiB.*8 MiB/);
        fails(await session.call('sandbox_write_files', { files: [] }), /files/);
        assert.ok(!(await list(session)).paths.includes('a'));
      });
    });

    describe('sandbox_read_file', () => {
      test('returns text as text and other bytes as base64', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'files/a.json', content: '{"ü":1}' }, { path: 'files/b', content: 'AP8=', encoding: 'base64' }, { path: 'empty', content: '' });
        const text = await read(session, 'files/a.json');
        assert.deepEqual(text.structuredContent, { path: 'files/a.json', size: 8, offset: 0, length: 8, mimeType: 'application/json', encoding: 'utf8', content: '{"ü":1}', complete: true });
        const bytes = await read(session, './files//b');
        assert.deepEqual([bytes.encoding, bytes.structuredContent.content, bytes.path], ['base64', 'AP8=', 'files/b']);
        assert.deepEqual((await read(session, 'empty')).structuredContent.content, '');
      });

      test('returns the form that is asked for', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'a', content: 'text' }, { path: 'b', content: 'AP8=', encoding: 'base64' }, { path: 'c.svg', content: '<svg xmlns="http://www.w3.org/2000/svg"/>' });
        assert.equal((await read(session, 'a', { encoding: 'base64' })).structuredContent.content, Buffer.from('text').toString('base64'));
        fails(await read(session, 'b', { encoding: 'utf8' }), /not UTF-8.*base64/);
        assert.match((await read(session, 'c.svg', { encoding: 'utf8' })).structuredContent.content, /^<svg/);
      });

      test('shows an image', async (t) => {
        const session = await client.session(t);
        const data = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
        await write(session, { path: 'files/p.png', content: data, encoding: 'base64' });
        assert.deepEqual((await read(session, 'files/p.png')).content, [{ type: 'image', data, mimeType: 'image/png' }]);
      });

      test('returns ranges that join to the whole, whatever their length', async (t) => {
        const session = await client.session(t);
        const whole = 'aä€🦊'.repeat(20);
        await write(session, { path: 'a', content: whole });
        for (const length of [1, 2, 3, 4, 7, 100, 1000]) {
          const parts = [];
          const size = Buffer.byteLength(whole);
          for (let offset = 0, calls = 0; offset < size && calls <= size; calls++) {
            const part = (await read(session, 'a', { offset, length })).structuredContent;
            assert.ok(part.length > 0 && part.length <= length, `${part.length} bytes of ${length} at ${offset}`);
            parts.push(Buffer.from(part.content, part.encoding));
            offset += part.length;
          }
          assert.equal(Buffer.concat(parts).toString(), whole);
        }
        const beyond = (await read(session, 'a', { offset: 1e9 })).structuredContent;
        assert.deepEqual([beyond.content, beyond.length], ['', 0]);
      });

      test('returns text that ends inside a character as base64, from any offset', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'a.txt', content: Buffer.from('616263c3', 'hex').toString('base64'), encoding: 'base64' });
        for (const offset of [0, 1, 3]) {
          const part = (await read(session, 'a.txt', { offset })).structuredContent;
          assert.equal(Buffer.from(part.content, part.encoding).toString('hex'), '616263c3'.slice(2 * offset));
        }
      });

      test('returns no more than its limit', async (t) => {
        const session = await client.session(t);
        await session.exec('head -c 20000000 /dev/zero > big');
        const part = (await read(session, 'big')).structuredContent;
        assert.deepEqual([part.size, part.length, part.complete], [20000000, 256 << 10, false]);
        fails(await read(session, 'big', { length: (8 << 20) + 1 }), /length/);
        fails(await read(session, 'big', { offset: -1 }), /offset/);
      });

      for (const path of badPaths) {
        test(`refuses the path ${JSON.stringify(path).slice(0, 30)}`, async (t) => fails(await read(await client.session(t), path), /path/));
      }

      test('says what a thing is that is no file, and opens none of them', async (t) => {
        const session = await client.session(t);
        await session.exec('cd files; mkdir d; ln -s /etc/passwd link; ln -s .. up; mkfifo fifo');
        fails(await read(session, 'files/none'), /none/);
        fails(await read(session, 'files/d'), /directory/);
        fails(await read(session, 'files/link'), /link/);
        fails(await read(session, 'files/up/package.json'), /link/);
        fails(await read(session, 'files/fifo'), /FIFO/);
      });
    });

    describe('sandbox_list_files', () => {
      test('has all files with their sizes', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'lib/a.js', content: '12345' }, { path: 'files/d/b', content: '' });
        await session.exec('ln -s /etc files/link; mkdir -p node_modules/x; echo x > node_modules/x/index.js');
        const result = await list(session);
        assert.deepEqual(result.entries.filter(({ path }) => /^(lib|files)/.test(path)), [
          { path: 'files', type: 'directory', size: 0 }, { path: 'files/d', type: 'directory', size: 0 }, { path: 'files/d/b', type: 'file', size: 0 },
          { path: 'files/link', type: 'symbolic link', size: 0 }, { path: 'lib', type: 'directory', size: 0 }, { path: 'lib/a.js', type: 'file', size: 5 },
        ]);
        assert.ok(result.paths.includes('package.json'));
        assert.ok(!result.paths.includes('node_modules/x/index.js'));
        assert.match(result.text, /^lib\/a\.js {2}5 /m);
      });

      test('has one directory, or one level of it, when asked', async (t) => {
        const session = await client.session(t);
        await write(session, { path: 'files/d/e/f', content: 'x' }, { path: 'files/g', content: 'x' });
        assert.deepEqual((await list(session, { path: 'files' })).paths, ['files/d/', 'files/d/e/', 'files/d/e/f', 'files/g']);
        assert.deepEqual((await list(session, { path: './files/', recursive: false })).paths, ['files/d/', 'files/g']);
        assert.deepEqual((await list(session, { path: 'files/d' })).paths, ['files/d/e/', 'files/d/e/f']);
        await session.exec('mkdir none');
        assert.match((await list(session, { path: 'none' })).text, /empty/);
      });

      test('is capped, and says how many more there are', async (t) => {
        const session = await client.session(t);
        await session.exec("perl -e 'for (1..700) { open(my $f, \">\", \"files/$_\") }'");
        const some = await list(session, { path: 'files' });
        assert.deepEqual([some.entries.length, some.more], [500, 200]);
        assert.match(some.text, /and 200 more/);
        assert.equal((await list(session, { path: 'files', maxEntries: 5000 })).entries.length, 700);
        fails(await session.call('sandbox_list_files', { maxEntries: 5001 }), /maxEntries/);
      });

      for (const path of badPaths) {
        test(`refuses the path ${JSON.stringify(path).slice(0, 30)}`, async (t) => fails(await (await client.session(t)).call('sandbox_list_files', { path }), /path/));
      }

      test('says when there is no such directory, and enters no link', async (t) => {
        const session = await client.session(t);
        await session.exec('ln -s /etc link; echo x > file');
        fails(await session.call('sandbox_list_files', { path: 'none' }), /none/);
        fails(await session.call('sandbox_list_files', { path: 'link' }), /link/);
        fails(await session.call('sandbox_list_files', { path: 'file' }), /file/);
      });
    });

    test('a sandbox that does not exist is none', async () => {
      for (const [tool, more] of [['sandbox_write_files', { files: [{ path: 'a', content: '' }] }], ['sandbox_read_file', { path: 'a' }], ['sandbox_list_files', {}]]) {
        fails(await client.call(tool, { container_id: 'js-sbx-00000000-0000-0000-0000-000000000000', ...more }), /no such sandbox/i);
        fails(await client.call(tool, { container_id: '../x', ...more }), /Invalid container ID/);
      }
    });
  });
}

test('with FILES_DIR new files belong to its owner, by the tool as by a program', async (t) => {
  const directory = ownDirectory('belljar-tools-');
  t.after(() => rmSync(directory, { recursive: true }));
  const client = await connect({ env: { FILES_DIR: directory } });
  t.after(() => client.close());
  const session = await client.session(t);
  writeFileSync(join(directory, 'there'), 'from the host');
  assert.equal((await session.call('sandbox_read_file', { path: 'files/there' })).content[0].text, 'from the host');
  await session.call('sandbox_write_files', { files: [{ path: 'files/d/new', content: 'x' }] });
  for (const name of ['d', 'd/new']) assert.equal(lstatSync(join(directory, name)).uid, lstatSync(directory).uid);
});
