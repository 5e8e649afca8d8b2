// Files of FILES_DIR as resources, their completion, and the prompt: with the official SDKs in both eras.
import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';

import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';

import { belljar, environment } from './lib/belljar.mjs';
import { Server } from './lib/stdio.mjs';
import { until, within } from './lib/wait.mjs';

const info = { name: 'e2e', version: '1' };
const updated = 'notifications/resources/updated';
const listChanged = 'notifications/resources/list_changed';

// How each client is made, told to listen to notifications, and subscribed.
const legacy = { subscribe: (client, uri) => client.subscribeResource({ uri }) };
const modern = { subscribe: (client, uri) => client.listen({ resourcesListChanged: true, resourceSubscriptions: [uri] }) };
const v2 = (options) => ({ make: () => new ClientV2(info, options), Transport: StdioV2, on: (client, method, handler) => client.setNotificationHandler(method, handler) });
const clients = {
  'SDK 1': {
    ...legacy, make: () => new ClientV1(info), Transport: StdioV1,
    on: (client, method, handler) =>
      client.setNotificationHandler(method === updated ? ResourceUpdatedNotificationSchema : ResourceListChangedNotificationSchema, handler),
  },
  'SDK 2': { ...legacy, ...v2() },
  'SDK 2, pinned to 2026-07-28': { ...modern, ...v2({ versionNegotiation: { mode: { pin: '2026-07-28' } } }) },
};

for (const [name, { make, Transport, on, subscribe }] of Object.entries(clients)) {
  describe(name, () => {
    let directory;
    let client;
    const seen = []; // notifications, in order
    const path = (file) => join(directory, 'shared', file);
    const uri = (file) => pathToFileURL(path(file)).href;
    const write = (file, text) => writeFileSync(path(file), text);
    const heard = (what, wanted) => until(what, () => seen.find(wanted));

    before(async () => {
      directory = mkdtempSync(join(tmpdir(), 'belljar-resources-'));
      mkdirSync(path('sub'), { recursive: true });
      writeFileSync(join(directory, 'secret'), 'secret');
      write('report.md', '# Report\n');
      write('sub/a b.json', '{"a":1}');
      write('picture.png', Buffer.from('89504e470d0a1a0a0000', 'hex'));
      symlinkSync('../secret', path('link'));
      client = make();
      for (const method of [updated, listChanged]) on(client, method, (message) => void seen.push(message));
      const env = environment({ FILES_DIR: path('') });
      await client.connect(new Transport({ command: belljar, args: ['mcp'], env, stderr: 'ignore' }));
    });
    after(async () => {
      await client.close();
      rmSync(directory, { recursive: true });
    });

    test('files are listed', async () => {
      const { resources } = await client.listResources();
      assert.deepEqual(resources.map((resource) => [resource.name, resource.uri, resource.mimeType, resource.size]), [
        ['picture.png', uri('picture.png'), 'image/png', 10],
        ['report.md', uri('report.md'), 'text/markdown', 9],
        ['sub/a b.json', uri('sub/a b.json'), 'application/json', 7],
      ]);
      for (const { annotations } of resources) assert.ok(Date.parse(annotations.lastModified) > 0);
      const { resourceTemplates } = await client.listResourceTemplates();
      assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), ['belljar://lockfiles/{sha256}', 'file://{+filepath}']);
    });

    test('files are read', async () => {
      const text = await client.readResource({ uri: uri('sub/a b.json') });
      assert.deepEqual(text.contents, [{ uri: uri('sub/a b.json'), mimeType: 'application/json', text: '{"a":1}' }]);
      const blob = await client.readResource({ uri: uri('picture.png') });
      assert.equal(Buffer.from(blob.contents[0].blob, 'base64').toString('hex'), '89504e470d0a1a0a0000');
    });

    test('what is elsewhere does not exist', async () => {
      const elsewhere = ['none', 'link', 'sub', '../secret', '%2e%2e/secret', '..%2fsecret', 'sub/../../secret'];
      const uris = elsewhere.map((file) => `${uri('')}/${file}`);
      for (const bad of [...uris, 'file:///etc/passwd', 'file:///proc/self/environ', 'file://host/etc/passwd', 'nonsense']) {
        const error = await client.readResource({ uri: bad }).then(() => assert.fail(bad), (reason) => reason);
        // The code of the legacy era is another, which version 2 of the SDK translates.
        assert.equal(error.code, name === 'SDK 1' ? -32002 : -32602, bad);
        assert.match(error.message, /Resource not found/, bad);
      }
    });

    test('paths are completed', async () => {
      const complete = async (value) => {
        const ref = { type: 'ref/resource', uri: 'file://{+filepath}' };
        return (await client.complete({ ref, argument: { name: 'filepath', value } })).completion.values;
      };
      assert.deepEqual(await complete(path('re')), [path('report.md')]);
      assert.deepEqual(await complete('s'), [`${path('sub')}/`]);
      assert.deepEqual(await complete(path('sub/')), [path('sub/a b.json')]);
      assert.deepEqual(await complete('/etc/pass'), []);
      assert.deepEqual(await complete(`${path('')}/../`), []);
      const ref = { type: 'ref/prompt', name: 'run-node-js-script' };
      assert.deepEqual((await client.complete({ ref, argument: { name: 'prompt', value: 'x' } })).completion.values, []);
    });

    test('changes are announced', async () => {
      await subscribe(client, uri('report.md'));
      appendFileSync(path('report.md'), 'more\n');
      const change = await heard('the change', (message) => message.method === updated);
      assert.equal(change.params.uri, uri('report.md'));
      assert.equal((await client.readResource({ uri: uri('report.md') })).contents[0].text, '# Report\nmore\n');
      seen.length = 0;
      renameSync(path('sub'), path('renamed'));
      await heard('the change of the list', (message) => message.method === listChanged);
      const { resources } = await client.listResources();
      assert.ok(resources.some((resource) => resource.uri === uri('renamed/a b.json')));
    });

    test('the prompt has the words of the user and the guide', async () => {
      const { prompts } = await client.listPrompts();
      assert.deepEqual(prompts.map((prompt) => prompt.name), ['run-node-js-script']);
      assert.deepEqual(prompts[0].arguments.map((argument) => [argument.name, argument.required]), [['prompt', true]]);
      const { messages } = await client.getPrompt({ name: 'run-node-js-script', arguments: { prompt: 'Count to three.' } });
      assert.equal(messages[0].content.text, 'Count to three.');
      assert.match(messages[1].content.text, /run_js_ephemeral/);
      await assert.rejects(client.getPrompt({ name: 'run-node-js-script', arguments: {} }), /prompt/);
    });
  });
}

describe('FILES_DIR', () => {
  test('without it there are lockfiles only, and no completions', async (t) => {
    const server = Server.start(t);
    const { result } = await server.initialize();
    assert.equal(result.capabilities.completions, undefined);
    assert.deepEqual((await server.request('resources/list')).result.resources, []);
    const { resourceTemplates } = (await server.request('resources/templates/list')).result;
    assert.deepEqual(resourceTemplates.map((template) => template.uriTemplate), ['belljar://lockfiles/{sha256}']);
  });

  test('a writer that never rests is announced a few times a second, and nothing else suffers', async (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'belljar-busy-'));
    t.after(() => rmSync(directory, { recursive: true }));
    const server = Server.start(t, { env: { FILES_DIR: directory } });
    await server.initialize();
    const file = join(directory, 'busy');
    await server.request('resources/subscribe', { uri: pathToFileURL(file).href });
    let writes = 0;
    const end = performance.now() + 1500;
    while (performance.now() < end) {
      for (let n = 0; n < 200; n++) writeFileSync(file, `${writes++}`);
      await within(1000, 'an answer to ping', server.request('ping'));
    }
    const told = server.received.filter((message) => message.method === updated).length;
    assert.ok(told >= 2 && told <= 9, `${told} announcements of ${writes} writes`);
  });
});
