// run_js_ephemeral over HTTP and over stdio, in turn, and the memory of idle streams. See bench/http.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { belljar, environment } from '../tests/e2e/lib/belljar.mjs';
import { number, quantile, tableOf, timed } from './lib/numbers.mjs';

const { values: options } = parseArgs({ options: { samples: { type: 'string', default: '300' }, json: { type: 'string' } } });
const samples = Number(options.samples);
const warmUp = 30;
const goal = 0.5;
const streams = 2000;
const memoryGoal = 60; // MB
const between = 60; // ms, in which the spare sandboxes are there again

const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
const children = [];
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => {
  for (const child of children) child.kill('SIGTERM');
  rmSync(directory, { recursive: true, force: true });
});

function start(args, stdio) {
  const child = spawn(belljar, args, { env: environment({ XDG_CONFIG_HOME: directory }), stdio });
  children.push(child);
  return child;
}

const version = '2026-07-28';
const meta = { 'io.modelcontextprotocol/protocolVersion': version, 'io.modelcontextprotocol/clientCapabilities': {} };
const message = (method, params) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } });
const run = message('tools/call', { name: 'run_js_ephemeral', arguments: { code: 'console.log(1)' } });
const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', 'mcp-protocol-version': version, 'mcp-method': 'tools/call' };

// Answers that end when `isWhole` says so; `stream` is written to and `from` read.
function exchanger(stream, from, bytes, isWhole) {
  let received = '';
  let answered;
  from.setEncoding('latin1').on('data', (text) => {
    received += text;
    if (isWhole(received)) answered(received);
  });
  return () => new Promise((resolve) => {
    received = '';
    answered = resolve;
    stream.write(bytes);
  });
}

function overStdio() {
  const child = start(['mcp'], ['pipe', 'pipe', 'ignore']);
  return exchanger(child.stdin, child.stdout, `${run}\n`, (text) => text.endsWith('\n'));
}

async function serve() {
  const child = start(['serve', '--listen', '127.0.0.1:0', '--preview-listen', '127.0.0.1:0', '--no-auth'], ['ignore', 'ignore', 'pipe']);
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (text) => { told += text; });
  while (!told.includes('"url"')) await once(child.stderr, 'data');
  return { pid: child.pid, url: new URL(/serves MCP at (\S+)/.exec(told)[1]) };
}

const residentMemory = (pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1000;

// The bytes of a request.
function post(url, body, extra) {
  const lines = Object.entries({ host: url.host, ...headers, ...extra, 'content-length': Buffer.byteLength(body) }).map(([name, value]) => `${name}: ${value}`);
  return `POST ${url.pathname} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

async function connect(url) {
  const socket = createConnection({ port: url.port, host: url.hostname, noDelay: true });
  await once(socket, 'connect');
  return socket;
}

// The server's memory before, and with that many streams on which nothing happens.
async function measureStreams() {
  const { pid, url } = await serve();
  const bytes = post(url, message('subscriptions/listen', { notifications: { toolsListChanged: true } }), { 'mcp-method': 'subscriptions/listen' });
  const before = residentMemory(pid);
  const sockets = [];
  while (sockets.length < streams) {
    const socket = await connect(url);
    socket.write(bytes);
    const [head] = await once(socket, 'data');
    if (!String(head).startsWith('HTTP/1.1 200 ')) throw new Error(String(head));
    sockets.push(socket);
  }
  const after = residentMemory(pid);
  for (const socket of sockets) socket.destroy();
  return { before, after };
}

// A client that does no more for an answer than that over stdio.
async function overSocket(url) {
  const socket = await connect(url);
  const isWhole = (text) => {
    const end = text.indexOf('\r\n\r\n');
    return end >= 0 && text.length === end + 4 + Number(/^content-length: (\d+)/im.exec(text)[1]);
  };
  return exchanger(socket, socket, post(url, run, { 'mcp-name': 'run_js_ephemeral' }), isWhole);
}

// The client that Node.js has.
function overNodeHttp(url) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  return () => new Promise((resolve, reject) => {
    const sent = http.request(url, { agent, method: 'POST', headers: { ...headers, 'mcp-name': 'run_js_ephemeral' } }, (response) => {
      let text = '';
      response.setEncoding('latin1').on('data', (part) => { text += part; }).on('end', () => resolve(text));
    });
    sent.on('error', reject).end(run);
  });
}

const memory = await measureStreams();
const { url } = await serve();
const ways = { stdio: overStdio(), HTTP: await overSocket(url), 'HTTP, with node:http as client': overNodeHttp(url) };
const times = Object.fromEntries(Object.keys(ways).map((way) => [way, []]));
for (let i = -warmUp; i < samples; i++) {
  for (const [way, ask] of Object.entries(ways)) {
    const { ms, value } = await timed(ask);
    if (!value.includes('"stdout":"1\\n"')) throw new Error(`${way}: ${value}`);
    if (i >= 0) times[way].push(ms);
    await new Promise((resolve) => setTimeout(resolve, between));
  }
}
const p50 = (way) => quantile(times[way], 0.5);
const more = (way) => p50(way) - p50('stdio');
const rows = Object.keys(ways).map((way) => [way, number(p50(way), 2), number(quantile(times[way], 0.9), 2), number(more(way), 2)]);
console.log(tableOf(['run_js_ephemeral over', 'p50, ms', 'p90, ms', 'more than over stdio'], rows));
const isFast = more('HTTP') <= goal;
const isSmall = memory.after <= memoryGoal;
console.log(`${samples} calls each, in turn; HTTP costs ${number(more('HTTP'), 2)} ms more, goal ${goal}${isFast ? '' : ': MISSED'}`);
console.log(`${streams} idle streams: ${number(memory.after)} MB in all (${number(memory.before)} before), goal ${memoryGoal}${isSmall ? '' : ': MISSED'}`);
if (options.json) writeFileSync(options.json, JSON.stringify({ times, more: more('HTTP'), goal, memory, memoryGoal }));
process.exit(isFast && isSmall ? 0 : 1);
