// The official SDK's client, connected to a belljar of its own, with the checks that every answer must pass.
//
//   const client = await connect({ npm_config_registry: url });
//   const result = await client.call('run_js_ephemeral', { code, dependencies }, { onprogress, signal });
//   result.text, result.telemetry, result.stdout …       // the text blocks as one string; what structuredContent has
//   await client.close();
import assert from 'node:assert/strict';

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Ajv2020 from 'ajv/dist/2020.js';

import { belljar, environment } from './belljar.mjs';

const telemetryPrefix = 'Telemetry:\n';

export async function connect(env = {}) {
  const client = new Client({ name: 'e2e', version: '1' });
  const transport = new StdioClientTransport({ command: belljar, args: ['mcp'], env: environment(env), stderr: 'inherit' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  const ajv = new Ajv2020({ strict: false });
  const call = async (name, args, options) => {
    const result = await client.callTool({ name, arguments: args }, undefined, { timeout: 120_000, ...options });
    if (!result.isError) {
      const { outputSchema } = tools.find((tool) => tool.name === name);
      assert.ok(ajv.validate(outputSchema, result.structuredContent), ajv.errorsText());
    }
    const texts = result.content.filter(({ type }) => type === 'text').map(({ text }) => text);
    const telemetry = texts.find((text) => text.startsWith(telemetryPrefix));
    return {
      ...result,
      isError: result.isError ?? false,
      text: texts.join('\n'),
      ...(telemetry && { telemetry: JSON.parse(telemetry.slice(telemetryPrefix.length)) }),
      ...result.structuredContent,
    };
  };
  return {
    pid: transport.pid,
    call,
    // Runs a program with dependencies given as { name: version }.
    run: (code, packages = {}, args = {}, options) =>
      call('run_js_ephemeral', { code, dependencies: list(packages), ...args }, options),
    close: () => client.close(),
  };
}

export const list = (packages) => Object.entries(packages).map(([name, version]) => ({ name, version }));
