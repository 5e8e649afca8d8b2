// get_dependency_types and search_npm_packages, with the official SDK, against a registry of our own.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Ajv2020 from 'ajv/dist/2020.js';

import { belljar, environment } from './lib/belljar.mjs';
import { startRegistry } from './lib/registry.mjs';
import { Server } from './lib/stdio.mjs';
import { within } from './lib/wait.mjs';

const directory = mkdtempSync(`${tmpdir()}/belljar-packages-`);
after(() => rmSync(directory, { recursive: true }));

// A connected client whose call() checks what every result promises.
async function connect(env) {
  const client = new Client({ name: 'e2e', version: '1' });
  await client.connect(new StdioClientTransport({ command: belljar, args: ['mcp'], env: environment(env), stderr: 'inherit' }));
  const { tools } = await client.listTools();
  const ajv = new Ajv2020({ strict: false });
  const call = async (name, args) => {
    const result = await client.callTool({ name, arguments: args });
    if (!result.isError) {
      const { outputSchema } = tools.find((tool) => tool.name === name);
      assert.ok(ajv.validate(outputSchema, result.structuredContent), ajv.errorsText());
    }
    assert.equal(result.content.length, 1);
    return { ...result, text: result.content[0].text };
  };
  // The entries of some packages, which the text block repeats.
  const types = async (...dependencies) => {
    const result = await call('get_dependency_types', { dependencies });
    if (result.structuredContent) assert.deepEqual(JSON.parse(result.text), result.structuredContent.packages);
    return Object.assign(JSON.parse(result.text), { isError: result.isError ?? false });
  };
  return { call, types, close: () => client.close() };
}

describe('with a registry of our own', () => {
  let registry;
  let client;
  before(async () => {
    registry = await startRegistry();
    client = await connect({ npm_config_userconfig: registry.npmrc(`${directory}/npmrc`) });
  });
  after(async () => {
    await client?.close();
    await registry?.stop();
  });

  test('a package brings its own types along, in the files that are needed', async () => {
    const [found] = await client.types({ name: 'own-types' });
    const { types, ...rest } = found;
    assert.deepEqual(rest, { name: 'own-types', hasTypes: true, version: '1.2.3' });
    assert.deepEqual(types.match(/^\/\/ .*$/gm), ['// lib/index.d.ts', '// lib/shapes.d.ts', '// lib/units/index.d.ts']);
    assert.match(types, /export declare const version: '1\.2\.3';/);
    assert.match(types, /type Unit = 'mm' \| 'cm'/);
    assert.doesNotMatch(types, /Unused/);
  });

  for (const [version, expected] of Object.entries({
    '1.0.0': '1.0.0', '~1.2.0': '1.2.3', '<1.2.3': '1.2.0', next: '2.0.0-beta.1', stable: '1.2.3', '*': '1.2.3', '^2.0.0-alpha': '2.0.0-beta.1',
  })) {
    test(`the version ${version} means ${expected}`, async () => {
      const [found] = await client.types({ name: 'own-types', version });
      assert.equal(found.version, expected);
      assert.match(found.types, new RegExp(`'${expected}'`));
    });
  }

  test('the condition `types` of `exports` is followed', async () => {
    const [found] = await client.types({ name: 'exports-types' });
    assert.equal(found.types, '// dist/index.d.mts\nexport declare const esm: true;\n');
  });

  test('types come from @types in the version that fits', async () => {
    const [old, latest, scoped] = [
      ...(await client.types({ name: 'typed-elsewhere', version: '^1.0.0' })),
      ...(await client.types({ name: 'typed-elsewhere' }, { name: '@scope/untyped' })),
    ];
    assert.deepEqual([old.version, old.typesPackage], ['1.4.2', '@types/typed-elsewhere@1.4.9']);
    assert.match(old.types, /"1\.4"/);
    assert.deepEqual([latest.version, latest.typesPackage], ['2.0.0', '@types/typed-elsewhere@2.1.0']);
    assert.deepEqual([scoped.hasTypes, scoped.typesPackage], [true, '@types/scope__untyped@1.0.1']);
  });

  test('a package without types says so', async () => {
    assert.deepEqual([...(await client.types({ name: 'no-types' }))], [{ name: 'no-types', hasTypes: false, version: '0.1.0' }]);
  });

  test('a package that does not exist gets near names and keeps nobody back', async () => {
    const found = await client.types({ name: 'own-tpyes' }, { name: 'no-types' }, { name: 'own-types', version: '^9' });
    assert.equal(found.isError, false);
    assert.deepEqual(found.map((one) => one.hasTypes), [false, false, false]);
    assert.match(found[0].error, /does not have the package own-tpyes\. Did you mean own-types\?$/);
    assert.equal(found[1].error, undefined);
    assert.match(found[2].error, /no version that fits "\^9"; the latest is 1\.2\.3/);
    assert.equal((await client.types({ name: 'there-is-nothing-like-it' })).isError, true);
  });

  test('a private package needs the token of npm’s configuration', async () => {
    const [found] = await client.types({ name: '@private/x' });
    assert.equal(found.types, '// index.d.ts\nexport declare const secret: true;\n');
    const stranger = await connect({ npm_config_userconfig: registry.npmrc(`${directory}/no-token`, { token: false }) });
    try {
      const [refused] = await stranger.types({ name: '@private/x' });
      assert.match(refused.error, /refuses the package @private\/x.*~\/\.npmrc/);
      assert.equal(JSON.stringify(refused).includes(registry.token), false);
    } finally {
      await stranger.close();
    }
  });

  test('hostile packages are cut or refused, and nothing of the host is read or written', async () => {
    const [huge, paths, link, escape] = await client.types(
      { name: 'hostile-huge' }, { name: 'hostile-paths' }, { name: 'hostile-link' }, { name: 'hostile-escape' });
    assert.match(huge.types, /cut here: the file has 96 MiB, the limit is 256 KiB\.\n$/);
    assert.ok(huge.types.length < 270_000);
    for (const one of [paths, link]) assert.deepEqual([one.hasTypes, one.error], [false, undefined]);
    assert.match(escape.error, /leads out of its directory/);
    assert.doesNotMatch(JSON.stringify([huge, paths, link, escape]), /root:/);
    assert.equal(existsSync('/tmp/belljar-escaped'), false);
  });

  test('twenty packages at once each get their own answer', async () => {
    const names = Array.from({ length: 20 }, (_, i) => ['own-types', 'no-types', 'exports-types', 'typed-elsewhere'][i % 4]);
    const all = await Promise.all(names.map((name) => client.types({ name })));
    assert.deepEqual(all.map(([found]) => found.name), names);
    assert.deepEqual(all.map(([found]) => found.hasTypes), names.map((name) => name !== 'no-types'));
  });

  for (const version of ['git+https://host/x.git', 'file:/etc', 'npm:no-types@1', 'https://host/x.tgz', '../x', '-g', 'x.tgz']) {
    test(`the version ${version} is refused by its name`, async () => {
      const dependencies = [{ name: 'no-types' }, { name: 'own-types', version }];
      const result = await client.call('get_dependency_types', { dependencies });
      assert.equal(result.isError, true);
      assert.ok(result.text.includes(`"dependencies[1].version" is "${version}"; it must be`), result.text);
    });
  }

  test('a search returns names, descriptions and readmes', async () => {
    const result = await client.call('search_npm_packages', { searchTerm: 'own-types' });
    const [found] = JSON.parse(result.text);
    assert.deepEqual(result.structuredContent.packages, JSON.parse(result.text));
    assert.deepEqual([found.name, found.description], ['own-types', 'fixture own-types']);
    assert.match(found.readmeSnippet, /^# own-types\n\nKnows the \*\*shapes\*\* of things/);
    assert.equal([...found.readmeSnippet].length, 500);
  });

  test('a search returns five packages at most, and none is an answer too', async () => {
    const many = await client.call('search_npm_packages', { searchTerm: 'types' });
    assert.ok(many.structuredContent.packages.length > 1 && many.structuredContent.packages.length <= 5);
    const none = await client.call('search_npm_packages', { searchTerm: 'zzzzzz', qualifiers: { author: 'nobody' } });
    assert.equal(none.isError ?? false, false);
    assert.equal(none.text, 'No packages found.');
    assert.deepEqual(none.structuredContent.packages, []);
  });

  test('a search for two words is refused by the name of the argument', async () => {
    const result = await client.call('search_npm_packages', { searchTerm: 'two words' });
    assert.equal(result.isError, true);
    assert.match(result.text, /"searchTerm" is "two words"; it must be one word/);
  });
});

describe('with a registry that is not as it should be', () => {
  // Answers every request with one status and body.
  async function withAnswer(status, body, use) {
    const server = createServer((request, response) => response.writeHead(status).end(body));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${server.address().port}`;
    const client = await connect({ npm_config_registry: `http://${host}/` });
    try {
      await use(client, host);
    } finally {
      await client.close();
      server.close();
    }
  }

  for (const [status, body] of [[404, '{}'], [405, ''], [501, ''], [200, '<!doctype html>']]) {
    test(`a search that gets status ${status} says what to do instead`, () =>
      withAnswer(status, body, async (client, host) => {
        const result = await client.call('search_npm_packages', { searchTerm: 'lodash' });
        assert.equal(result.isError, true);
        assert.ok(result.text.includes(`the npm registry ${host} cannot search`), result.text);
        assert.match(result.text, /get_dependency_types tells whether one exists/);
      }));
  }

  test('a package document that is none is an error of that package', () =>
    withAnswer(200, '{"versions":7}', async (client) => {
      const [found] = await client.types({ name: 'lodash' });
      assert.match(found.error, /not a package document/);
    }));
});

test('a call to a silent registry can be cancelled, and the server goes on', async (t) => {
  const silent = createServer(() => {});
  await new Promise((resolve) => silent.listen(0, '127.0.0.1', resolve));
  t.after(() => silent.close());
  const server = Server.start(t, { env: { npm_config_registry: `http://127.0.0.1:${silent.address().port}/` } });
  await server.initialize();
  const asked = once(silent, 'request');
  server.send({ id: 'slow', method: 'tools/call', params: { name: 'get_dependency_types', arguments: { dependencies: [{ name: 'a' }] } } });
  const [request] = await within(10_000, 'the registry to be asked', asked);
  const closed = once(request.socket, 'close');
  server.notify('notifications/cancelled', { requestId: 'slow' });
  await within(10_000, 'the connection to the registry to be closed', closed);
  assert.equal((await server.call('sandbox_list')).isError ?? false, false);
});

describe('with the registry of this machine', () => {
  let client;
  let absence = false;
  before(async () => {
    client = await connect();
    const [found] = await client.types({ name: 'is-odd' });
    absence = found.error ?? false;
  });
  after(() => client?.close());
  const reachable = (t) => !absence || t.skip(`no npm registry can be reached: ${absence}`);

  test('well-known packages have types', async (t) => {
    if (!reachable(t)) return;
    const found = await client.types({ name: 'zod', version: '^3' }, { name: 'lodash' }, { name: 'express', version: '4' });
    for (const one of found) assert.equal(one.hasTypes, true, JSON.stringify(one).slice(0, 300));
    assert.match(found[1].typesPackage, /^@types\/lodash@4\./);
    assert.match(found[2].typesPackage, /^@types\/express@/);
  });

  test('a search finds something, or says that this registry cannot search', async (t) => {
    if (!reachable(t)) return;
    const result = await client.call('search_npm_packages', { searchTerm: 'lodash' });
    if (result.isError) assert.match(result.text, /cannot search/);
    else assert.ok(result.structuredContent.packages.length > 0);
  });
});
