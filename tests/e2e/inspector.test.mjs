// The MCP inspector's command line as a client, over stdio and over HTTP, in both eras.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { after, before, describe, test } from 'node:test';

import { belljar, environment } from './lib/belljar.mjs';
import { serve, tokenOf, tokens } from './lib/http.mjs';

const launcher = fileURLToPath(new URL('node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));

function inspect(target, ...args) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [launcher, '--cli', ...target, ...args], {
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

const ends = [];
let server;
const overHttp = (token) => [server.url, '--transport', 'http', '--header', `Authorization: Bearer ${token}`];
before(async () => {
  server = await serve({ after: (end) => ends.push(end) }, { toml: tokens('alice') });
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

for (const [way, target] of Object.entries({ stdio: () => [belljar, 'mcp'], HTTP: () => overHttp(tokenOf('alice')) })) {
  for (const era of ['legacy', 'modern', 'auto']) {
    const common = ['--protocol-era', era, '--format', 'json'];

    describe(`the inspector over ${way} (${era})`, () => {
      test('lists the tools', async () => {
        const { code, stdout, stderr } = await inspect(target(), ...common, '--method', 'tools/list');
        assert.equal(code, 0, stderr);
        for (const name of ['run_js_ephemeral', 'sandbox_initialize', 'run_js', 'sandbox_exec', 'sandbox_stop', 'sandbox_list']) {
          assert.match(stdout, new RegExp(`"${name}"`));
        }
      });

      test('runs a program', async () => {
        const { code, stdout, stderr } = await inspect(target(), ...common, '--method', 'tools/call', '--tool-name', 'run_js_ephemeral',
          '--tool-arg', 'code=console.log("from the inspector")');
        assert.equal(code, 0, stderr + stdout);
        assert.match(stdout, /from the inspector/);
      });

      test('reports a failing program', async () => {
        const { code, stdout } = await inspect(target(), ...common, '--method', 'tools/call', '--tool-name', 'run_js_ephemeral',
          '--tool-arg', 'code=process.exit(9)');
        assert.equal(code, 5, stdout);
        assert.match(stdout, /Error during execution/);
      });
    });
  }

  test(`the inspector finds the schemas portable over ${way}`, async () => {
    const { code, stdout, stderr } = await inspect(target(), '--method', 'tools/list', '--strict');
    assert.equal(code, 0, stdout + stderr);
  });
}

test('the inspector is refused with a token that nobody has', async () => {
  const { code, stdout, stderr } = await inspect(overHttp(tokenOf('nobody')), '--method', 'tools/list');
  assert.notEqual(code, 0);
  assert.match(stdout + stderr, /401|[Uu]nauthorized|[Aa]uth/);
  assert.doesNotMatch(stdout, /run_js/);
});
