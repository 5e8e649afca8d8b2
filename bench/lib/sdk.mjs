// belljar, used through the official SDK.
import { Client } from '../../tests/e2e/node_modules/@modelcontextprotocol/sdk/dist/esm/client/index.js';
import { StdioClientTransport } from '../../tests/e2e/node_modules/@modelcontextprotocol/sdk/dist/esm/client/stdio.js';
import { belljar, environment } from '../../tests/e2e/lib/belljar.mjs';

const open = new Set();

export async function connect(env = {}) {
  const client = new Client({ name: 'bench', version: '1' });
  const transport = new StdioClientTransport({ command: belljar, args: ['mcp'], env: environment(env), stderr: 'ignore' });
  await client.connect(transport);
  const callAnyway = (name, args = {}) => client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
  const call = async (name, args = {}) => {
    const result = await callAnyway(name, args);
    if (result.isError) throw new Error(`${name}: ${result.content[0].text}`);
    return result;
  };
  const connection = { call, callAnyway, pid: transport.pid, close: () => (open.delete(connection), client.close()) };
  open.add(connection);
  return connection;
}

// Ends the connections that a part of a benchmark has left open.
export async function closeAll() {
  for (const connection of open) await connection.close();
}
