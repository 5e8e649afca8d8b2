// Figures of files, ports, packages and lint: what each adds to a run.
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const manyFiles = 50_000;
const perFolder = 100;

// A directory for one measurement.
async function inDirectory(work) {
  const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

// Runs the works in turn and gives the times of each.
async function alternate(samples, timed, works) {
  const times = works.map(() => []);
  for (let i = -2; i < samples; i++) {
    for (const [at, work] of works.entries()) {
      const { ms } = await timed(work);
      if (i >= 0) times[at].push(ms);
    }
  }
  return times;
}

export async function measureFiles({ connect, timed, summary, samples }) {
  const server = await connect();
  const session = async () => (await server.call('sandbox_initialize')).content[0].text;
  const [empty, full] = [await session(), await session()];
  await server.call('run_js', { container_id: full, timeoutMs: 120_000, code: `
    import { mkdirSync, writeFileSync } from 'node:fs';
    for (let i = 0; i < ${manyFiles}; i++) {
      if (i % ${perFolder} === 0) mkdirSync('files/' + i);
      writeFileSync('files/' + (i - i % ${perFolder}) + '/' + i, '');
    }` });
  const run = (container_id) => () => server.call('run_js', { container_id, code: '1' });
  const [without, own] = (await alternate(samples, timed, [run(empty), run(full)])).map(summary);
  await server.close();
  return inDirectory(async (directory) => {
    for (let i = 0; i < manyFiles; i++) {
      if (i % perFolder === 0) mkdirSync(join(directory, String(i)));
      writeFileSync(join(directory, String(i - (i % perFolder)), String(i)), '');
    }
    const [shared, plain] = [await connect({ FILES_DIR: directory }), await connect()];
    const once = (each) => () => each.call('run_js_ephemeral', { code: '1' });
    await plain.call('run_js_ephemeral', { code: '1' });
    await shared.call('sandbox_list');
    const first = (await timed(once(shared))).ms;
    const [bare, later] = (await alternate(samples, timed, [once(plain), once(shared)])).map(summary);
    return { without, own, first: first - bare.p50, bare, later };
  });
}

// A client that only waits for the end of each line: what the SDK does with megabytes of JSON is not belljar's time.
function openRaw(command, env) {
  const child = spawn(command, ['mcp'], { env, stdio: ['pipe', 'pipe', 'ignore'] });
  let answered = () => {};
  child.stdout.on('data', (bytes) => bytes.at(-1) === 10 && answered());
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = (method, params) => new Promise((resolve) => {
    answered = resolve;
    send({ id: 1, method, params });
  });
  return { ask, send, close: () => child.stdin.end() };
}

export async function measureImage({ command, env, timed, summary, samples }) {
  const server = openRaw(command, env);
  await server.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  server.send({ method: 'notifications/initialized' });
  const write = (path) => () => server.ask('tools/call', { name: 'run_js_ephemeral', arguments: { code: `
    import { writeFileSync } from 'node:fs';
    const image = Buffer.alloc(5e6, 7);
    Buffer.from('89504e470d0a1a0a', 'hex').copy(image);
    writeFileSync('${path}', image);` } });
  const [kept, returned] = (await alternate(Math.min(samples, 50), timed, [write('/tmp/i.png'), write('files/i.png')])).map(summary);
  server.close();
  return { kept, returned };
}

const serverCode = (port) => `
  import { createServer } from 'node:net';
  const chunk = Buffer.alloc(2 ** 20, 'x');
  createServer((socket) => {
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.once('data', (asked) => {
      let left = Number(asked);
      if (left === 0) return void socket.on('data', (bytes) => socket.write(bytes)).write(asked);
      const send = () => {
        while (left-- > 0) if (!socket.write(chunk)) return void socket.once('drain', send);
        socket.end();
      };
      send();
    });
  }).listen(${port}, '127.0.0.1', () => console.log('listening'));`;

function download(port, mebibytes) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    let bytes = 0;
    const socket = createConnection(port, '127.0.0.1', () => socket.write(String(mebibytes)));
    socket.on('data', (part) => (bytes += part.length)).on('error', reject);
    socket.on('close', () => resolve((bytes * 8) / (performance.now() - started) / 1e6));
  });
}

const echo = (socket) => new Promise((resolve) => socket.once('data', resolve) && socket.write('0'));

async function connectAndEcho(port) {
  const socket = createConnection({ port, host: '127.0.0.1', noDelay: true });
  await echo(socket);
  socket.destroy();
}

export async function measurePort({ connect, timed, summary, samples, node }) {
  const [published, bare] = [45_671, 45_672];
  const server = await connect();
  const container_id = (await server.call('sandbox_initialize', { limits: { cpus: 2 } })).content[0].text;
  await server.call('run_js', { container_id, code: serverCode(published), listenOnPort: published });
  const child = spawn(node, ['--input-type=module', '-e', serverCode(bare)], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    await new Promise((resolve) => child.stdout.once('data', resolve));
    const rates = { published: [], bare: [] };
    for (let i = 0; i < 6; i++) {
      rates.published.push(await download(published, 512));
      rates.bare.push(await download(bare, 512));
    }
    const [direct, through] = (await alternate(samples * 5, timed, [() => connectAndEcho(bare), () => connectAndEcho(published)])).map(summary);
    const sockets = [bare, published].map((port) => createConnection({ port, host: '127.0.0.1', noDelay: true }));
    for (const socket of sockets) await echo(socket);
    const [near, far] = (await alternate(samples * 10, timed, sockets.map((socket) => () => echo(socket)))).map(summary);
    for (const socket of sockets) socket.destroy();
    return { published: Math.max(...rates.published), bare: Math.max(...rates.bare), direct, through, near, far };
  } finally {
    child.kill();
  }
}

export async function measureInstall({ connect, timed, summary, options }) {
  const server = await connect(Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(npm_config_|NPM_CONFIG_|NODE_EXTRA_CA_CERTS|SSL_CERT_|HOME$)/i.test(name))));
  const install = () => server.call('run_js_ephemeral', { code: "import 'lodash'", dependencies: [{ name: 'lodash', version: 'latest' }] });
  const npm = () => inDirectory((directory) => {
    writeFileSync(join(directory, 'package.json'), '{}');
    const flags = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--cache', join(directory, 'cache'), 'lodash@latest'];
    if (spawnSync('npm', flags, { cwd: directory, stdio: 'ignore' }).status !== 0) throw new Error('npm install failed');
  });
  const times = { belljar: [], npm: [] };
  for (let i = -1; i < (options.quick ? 3 : 10); i++) {
    const bare = (await timed(npm)).ms;
    const result = await install();
    if (i < 0) continue;
    times.npm.push(bare);
    times.belljar.push(result.structuredContent.install.ms);
  }
  return { belljar: summary(times.belljar), npm: summary(times.npm) };
}

export async function measureLint({ connect, timed, summary, samples }) {
  const server = await connect();
  // What the answer took beyond the program itself.
  const beyond = async (code) => {
    const { ms, value } = await timed(() => server.callAnyway('run_js_ephemeral', { code }));
    return ms - JSON.parse(value.content.at(-1).text.slice('Telemetry:\n'.length)).runTimeMs;
  };
  const times = { good: [], failed: [] };
  for (let i = -2; i < Math.min(samples, 100); i++) {
    const good = await beyond('1');
    const failed = await beyond('missing.name()');
    if (i < 0) continue;
    times.good.push(good);
    times.failed.push(failed);
  }
  return { good: summary(times.good), failed: summary(times.failed) };
}
