// The MCP inspector's command line as a client, in both eras.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { test } from 'node:test';

import { belljar, environment } from './lib/belljar.mjs';

const launcher = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));

function inspect(...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [launcher, '--cli', belljar, 'mcp', ...args], {
      env: environment({ MCP_INSPECTOR_SECRET_STORE: 'memory' }), stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => (stdout += text));
    child.stderr.on('data', (text) => (stderr += text));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
}

for (const era of ['legacy', 'modern', 'auto']) {
  const common = ['--protocol-era', era, '--format', 'json'];

  test(`the inspector lists the tools (${era})`, async () => {
    const { code, stdout, stderr } = await inspect(...common, '--method', 'tools/list');
    assert.equal(code, 0, stderr);
    for (const name of ['run_js_ephemeral', 'sandbox_initialize', 'run_js', 'sandbox_exec', 'sandbox_stop', 'sandbox_list']) {
      assert.match(stdout, new RegExp(`"${name}"`));
    }
  });

  test(`the inspector runs a program (${era})`, async () => {
    const { code, stdout, stderr } = await inspect(...common, '--method', 'tools/call', '--tool-name', 'run_js_ephemeral',
      '--tool-arg', 'code=console.log("from the inspector")');
    assert.equal(code, 0, stderr + stdout);
    assert.match(stdout, /from the inspector/);
  });

  test(`the inspector reports a failing program (${era})`, async () => {
    const { code, stdout } = await inspect(...common, '--method', 'tools/call', '--tool-name', 'run_js_ephemeral',
      '--tool-arg', 'code=process.exit(9)');
    assert.equal(code, 5, stdout);
    assert.match(stdout, /Error during execution/);
  });
}

test('the inspector finds the schemas portable', async () => {
  const { code, stdout, stderr } = await inspect('--method', 'tools/list', '--strict');
  assert.equal(code, 0, stdout + stderr);
});
