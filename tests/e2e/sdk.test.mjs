// The official SDKs as clients: version 1, and version 2 in each of its ways to find the protocol's era.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import Ajv2020 from 'ajv/dist/2020.js';

import { belljar, environment } from './lib/belljar.mjs';

const info = { name: 'e2e', version: '1' };
const clients = {
  'SDK 1': { make: () => new ClientV1(info), Transport: StdioV1 },
  'SDK 2': { make: () => new ClientV2(info), Transport: StdioV2 },
  'SDK 2, auto': { make: () => new ClientV2(info, { versionNegotiation: { mode: 'auto' } }), Transport: StdioV2 },
  'SDK 2, pinned to 2026-07-28': {
    make: () => new ClientV2(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } }), Transport: StdioV2,
  },
};

for (const [name, { make, Transport }] of Object.entries(clients)) {
  describe(name, () => {
    let client;
    let tools;
    const ajv = new Ajv2020({ strict: false });

    before(async () => {
      client = make();
      await client.connect(new Transport({ command: belljar, args: ['mcp'], env: environment(), stderr: 'inherit' }));
      tools = (await client.listTools()).tools;
    });
    after(() => client.close());

    // Calls a tool and checks what every result promises.
    async function call(tool, args) {
      const result = await client.callTool({ name: tool, arguments: args });
      const schema = tools.find((candidate) => candidate.name === tool).outputSchema;
      if (!result.isError) {
        assert.ok(result.structuredContent, `${tool} returns structuredContent`);
        const valid = ajv.validate(schema, result.structuredContent);
        assert.ok(valid, `${tool}: ${ajv.errorsText()} in ${JSON.stringify(result.structuredContent)}`);
      }
      return result;
    }
    const text = (result) => result.content.map((block) => block.text).join('\n');

    test('every tool has a title, a description, annotations and schemas', () => {
      assert.deepEqual(tools.map((tool) => tool.name).sort(), [
        'get_dependency_types', 'run_js', 'run_js_ephemeral', 'sandbox_exec', 'sandbox_initialize', 'sandbox_list', 'sandbox_list_files',
        'sandbox_logs', 'sandbox_read_file', 'sandbox_stop', 'sandbox_write_files', 'search_npm_packages',
      ]);
      for (const tool of tools) {
        assert.ok(tool.title && tool.description, tool.name);
        for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
          assert.equal(typeof tool.annotations[hint], 'boolean', `${tool.name}.${hint}`);
        }
        assert.equal(tool.inputSchema.type, 'object');
        assert.equal(tool.outputSchema.type, 'object');
        ajv.compile(tool.inputSchema);
        ajv.compile(tool.outputSchema);
      }
    });

    test('run_js_ephemeral returns the text blocks that agents match on', async () => {
      const result = await call('run_js_ephemeral', { code: 'console.log("hello")' });
      assert.equal(result.isError ?? false, false);
      assert.equal(result.content[0].text, 'Node.js process output:\nhello\n');
      const telemetry = result.content.at(-1).text;
      assert.match(telemetry, /^Telemetry:\n\{/);
      const numbers = JSON.parse(telemetry.slice('Telemetry:\n'.length));
      assert.equal(numbers.installTimeMs, 0);
      assert.equal(numbers.installOutput, 'Skipped npm install (no dependencies)');
      assert.equal(typeof numbers.runTimeMs, 'number');
      const { stdout, stderr, exitCode, timedOut, oomKilled, truncated } = result.structuredContent;
      assert.deepEqual({ stdout, stderr, exitCode, timedOut, oomKilled, truncated },
        { stdout: 'hello\n', stderr: '', exitCode: 0, timedOut: false, oomKilled: false, truncated: false });
    });

    test('a failing program is a tool error with both streams', async () => {
      const result = await call('run_js_ephemeral', { code: 'console.log("out"); console.error("err"); process.exit(3)' });
      assert.equal(result.isError, true);
      const block = result.content.find((candidate) => candidate.text.startsWith('Error during execution: '));
      assert.match(block.text, /out/);
      assert.match(block.text, /err/);
      assert.match(block.text, /3/);
    });

    test('a session is initialized, used, listed and stopped', async () => {
      const started = await call('sandbox_initialize', {});
      assert.equal(started.content.length, 1);
      const id = started.content[0].text;
      assert.match(id, /^js-sbx-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      const run = await call('run_js', { container_id: id, code: 'import { writeFileSync } from "node:fs"; writeFileSync("kept", "1"); console.log("ran")' });
      assert.match(run.content[0].text, /^Node.js process output:\nran\n/);
      const exec = await call('sandbox_exec', { container_id: id, commands: ['cat kept', 'echo two'] });
      assert.match(exec.content[0].text, /^1\n+two\n?$/);
      assert.match(JSON.stringify((await call('sandbox_list', {})).structuredContent), new RegExp(id));
      const stopped = await call('sandbox_stop', { container_id: id });
      assert.equal(stopped.content[0].text, `Container ${id} removed.`);
      assert.doesNotMatch(JSON.stringify((await call('sandbox_list', {})).structuredContent), new RegExp(id));
      const gone = await call('run_js', { container_id: id, code: '1' });
      assert.equal(gone.isError, true);
    });

    test('a bad argument is a tool error that names it', async () => {
      const result = await call('run_js_ephemeral', { code: 42 });
      assert.equal(result.isError, true);
      assert.match(text(result), /code/);
      assert.match(text(result), /string/);
    });

    test('an unknown tool is a protocol error', async () => {
      await assert.rejects(client.callTool({ name: 'no_such_tool', arguments: {} }), /no_such_tool/);
    });

    test('twenty calls at once each get their own answer', async () => {
      const numbers = Array.from({ length: 20 }, (_, index) => index);
      const results = await Promise.all(numbers.map((n) => call('run_js_ephemeral', { code: `console.log(${n} * ${n})` })));
      assert.deepEqual(results.map((result) => result.structuredContent?.stdout), numbers.map((n) => `${n * n}\n`));
    });

    test('progress reaches the handler', async () => {
      const seen = [];
      const code = 'console.log("first"); setTimeout(() => console.log("second"), 200)';
      await client.callTool({ name: 'run_js_ephemeral', arguments: { code } },
        ...(name === 'SDK 1' ? [undefined] : []), { onprogress: (progress) => seen.push(progress.message) });
      assert.match(seen.join('\n'), /first/);
    });

    test('an aborted call rejects and the connection goes on', async () => {
      const aborter = new AbortController();
      const options = { signal: aborter.signal, onprogress: () => aborter.abort(new Error('enough')) };
      const request = { name: 'run_js_ephemeral', arguments: { code: 'console.log("up"); setTimeout(() => {}, 60_000)', timeoutMs: 120_000 } };
      await assert.rejects(client.callTool(request, ...(name === 'SDK 1' ? [undefined] : []), options));
      const result = await call('run_js_ephemeral', { code: 'console.log("still here")' });
      assert.equal(result.structuredContent.stdout, 'still here\n');
    });
  });
}
