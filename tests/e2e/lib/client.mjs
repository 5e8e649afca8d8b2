// The official SDK as a client that checks what every result promises, and what tests ask of results.
import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Ajv2020 from 'ajv/dist/2020.js';

import { belljar, environment } from './belljar.mjs';

const listTitle = 'List of changed files:\n';
const telemetryTitle = 'Telemetry:\n';

// A connected client. `call` returns the tool's result, with its structured content, the text blocks as one string in
// `text`, the blocks of files in `fileBlocks`, the lines about changed files in `changes`, and `telemetry`.
export async function connect({ env = {}, args = ['mcp'] } = {}) {
  const client = new Client({ name: 'e2e', version: '1' });
  const transport = new StdioClientTransport({ command: belljar, args, env: environment(env), stderr: 'inherit' });
  await client.connect(transport);
  const schemas = new Map((await client.listTools()).tools.map((tool) => [tool.name, tool.outputSchema]));
  const ajv = new Ajv2020({ strict: false });

  const call = async (name, toolArguments = {}, options = {}) => {
    const result = await client.callTool({ name, arguments: toolArguments }, undefined, { timeout: 120_000, ...options });
    if (result.structuredContent) {
      assert.ok(ajv.validate(schemas.get(name), result.structuredContent), `${name}: ${ajv.errorsText()}`);
    }
    const texts = result.content.filter((block) => block.type === 'text').map((block) => block.text);
    const list = texts.find((text) => text.startsWith(listTitle));
    const telemetry = texts.find((text) => text.startsWith(telemetryTitle));
    return {
      ...result.structuredContent, isError: false, ...result, text: texts.join('\n'),
      fileBlocks: result.content.filter((block) => block.type !== 'text'),
      ...(telemetry && { telemetry: JSON.parse(telemetry.slice(telemetryTitle.length)) }),
      changes: list ? list.slice(listTitle.length).split('\n').map((line) => line.replace(/^- /, '')) : [],
    };
  };
  // The result of a call that must succeed.
  const succeed = async (name, toolArguments) => {
    const result = await call(name, toolArguments);
    assert.equal(result.isError, false, result.text);
    return result;
  };
  return {
    pid: transport.pid,
    call,
    succeed,
    // Runs a program in a fresh sandbox.
    run: (code, more = {}) => succeed('run_js_ephemeral', { code, ...more }),
    // A sandbox that stays until the test `t` ends: { id, run, exec, call, stop }.
    session: async (t, more = {}) => {
      const { container_id: id } = await succeed('sandbox_initialize', more);
      const stop = () => call('sandbox_stop', { container_id: id });
      t.after(() => stop().catch(() => {})); // the server may be gone by then
      return {
        id,
        stop,
        call: (name, rest = {}) => call(name, { container_id: id, ...rest }),
        run: (code, rest = {}) => succeed('run_js', { container_id: id, code, ...rest }),
        exec: (...commands) => succeed('sandbox_exec', { container_id: id, commands }),
      };
    },
    read: (uri) => client.readResource({ uri }),
    close: () => client.close(),
  };
}
