// `belljar serve`, and the plainest of clients: one HTTP request after the other.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';

import { belljar, environment } from './belljar.mjs';
import { temporaryDirectory } from './directories.mjs';
import { until } from './wait.mjs';

export const modern = '2026-07-28';
const meta = {
  'io.modelcontextprotocol/protocolVersion': modern,
  'io.modelcontextprotocol/clientInfo': { name: 'e2e', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

// One request, on a connection of its own unless an agent has one: { status, headers, text }.
export function request(url, { method = 'GET', headers = {}, body, ca, signal, agent = false } = {}) {
  const { request: open } = url.startsWith('https:') ? https : http;
  return new Promise((resolve, reject) => {
    const sent = open(url, { method, headers, ca, signal, agent }, (response) => {
      const parts = [];
      response.on('data', (part) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, text: Buffer.concat(parts).toString() }));
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

// The JSON-RPC message in an answer, whichever form it has.
export function message(answer) {
  if (!answer.headers['content-type']?.startsWith('text/event-stream')) return JSON.parse(answer.text);
  const events = answer.text.split('\n\n').map((block) => block.split('\n').filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n'));
  return events.filter((data) => data.trim()).map((data) => JSON.parse(data)).findLast(({ id }) => id !== undefined);
}

// A request of the modern era, which needs no session. `token` may be undefined.
export function rpc(server, token, method, params = {}, { headers = {}, signal, agent } = {}) {
  const name = params.name ?? params.uri;
  return request(server.url, {
    method: 'POST', signal, agent, ca: server.ca,
    headers: {
      'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': modern, 'mcp-method': method,
      ...(name && { 'mcp-name': name }), ...(token && { authorization: `Bearer ${token}` }), ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: { ...meta, ...params._meta } } }),
  });
}

// The result of a tool, which may be an error of it.
export async function call(server, token, name, args = {}, options = {}) {
  const answer = await rpc(server, token, 'tools/call', { name, arguments: args, ...(options.meta && { _meta: options.meta }) }, options);
  assert.equal(answer.status, 200, answer.text);
  const { result, error } = message(answer);
  assert.ok(result, JSON.stringify(error));
  return { ...result, text: result.content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n') };
}

// Starts `belljar serve` at a free port and waits until it listens; it ends with the test. `toml` is its configuration file.
export async function serve(t, { args = [], env = {}, toml = '', scheme = 'http', ca } = {}) {
  const directory = temporaryDirectory(t);
  const config = join(directory, 'config.toml');
  writeFileSync(config, toml, { mode: 0o644 });
  const child = spawn(belljar, ['serve', '--listen', '127.0.0.1:0', ...args], {
    env: environment({ XDG_CONFIG_HOME: join(directory, 'home'), BELLJAR_CONFIG: config, ...env }), stdio: ['ignore', 'ignore', 'pipe'],
  });
  const server = { child, pid: child.pid, ca, stderr: '', directory, tokenFile: join(directory, 'home', 'belljar', 'token') };
  child.stderr.setEncoding('utf8').on('data', (text) => { server.stderr += text; });
  server.ended = once(child, 'exit').then(([code, signal]) => ({ code, signal }));
  t.after(async () => {
    child.kill('SIGTERM');
    child.kill('SIGTERM'); // at once
    await server.ended;
  });
  const [, url] = await until('belljar serve listens', () => {
    assert.equal(child.exitCode, null, server.stderr);
    return /^belljar serves MCP at (\S+)$/m.exec(server.stderr);
  });
  server.port = Number(new URL(url).port);
  server.url = `${scheme}://127.0.0.1:${server.port}/mcp`;
  server.at = (path) => new URL(path, server.url).href;
  await until('it answers', () => request(server.at('/healthz'), { ca: server.ca }).then(() => true, () => false));
  return server;
}

// Long enough to be a token.
export const tokenOf = (name) => `${name}-${'0123456789abcdef'.repeat(2)}`;

// A configuration with these owners.
export const tokens = (...names) => names.map((name) => `[tokens.${name}]\ntoken = "${tokenOf(name)}"\n`).join('\n');
