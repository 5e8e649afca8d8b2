// The figures of the README. See bench/run.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, release } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { belljar, environment } from '../tests/e2e/lib/belljar.mjs';
import { measureFiles, measureImage, measureInstall, measureLint, measurePort } from './contract.mjs';
import { descendants, memory, pss } from '../tests/e2e/lib/proc.mjs';
import { number, summary, tableOf, timed } from './lib/numbers.mjs';
import { dockerAnswers, makeSpawner } from './lib/others.mjs';
import { closeAll, connect } from './lib/sdk.mjs';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean' }, json: { type: 'string' } } });
const samples = options.quick ? 20 : 200;
const manySessions = options.quick ? 100 : 500;
const hello = 'console.log("hello")';
const mib = 2 ** 20;

async function measureHello() {
  const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
  const file = join(directory, 'hello.mjs');
  writeFileSync(file, hello);
  const spawner = makeSpawner();
  const server = await connect();
  const docker = dockerAnswers();
  const times = { belljar: [], node: [], docker: [] };
  const node = await sandboxNode(server);
  for (let i = -5; i < samples; i++) {
    const bare = await spawner.run([node, file]);
    const { ms } = await timed(() => server.call('run_js_ephemeral', { code: hello }));
    const container = docker && i % 10 === 0
      ? await spawner.run(['docker', 'run', '--rm', '--network', 'none', 'node:lts-slim', 'node', '-e', hello]) : undefined;
    if (i < 0) continue; // the first ones fill caches
    times.node.push(bare);
    times.belljar.push(ms);
    if (container) times.docker.push(container);
  }
  spawner.close();
  await server.close();
  rmSync(directory, { recursive: true });
  return { belljar: summary(times.belljar), node: summary(times.node), docker: docker ? summary(times.docker) : undefined };
}

// The host's path of the very Node.js that the sandbox runs: this process, if the versions agree.
async function sandboxNode(server) {
  const inside = (await server.call('run_js_ephemeral', { code: 'console.log(process.version)' })).structuredContent.stdout.trim();
  if (inside !== process.version) {
    console.error(`note: sandboxes run Node.js ${inside}, the comparison ${process.version}`);
  }
  return process.execPath;
}

async function measureSessions() {
  const server = await connect();
  const spawner = makeSpawner();
  const times = { initialize: [], exec: [], stop: [], bare: [] };
  for (let i = -5; i < samples; i++) {
    const bare = await spawner.run(['/bin/sh', '-c', 'echo hello']);
    const initialize = await timed(() => server.call('sandbox_initialize'));
    const container_id = initialize.value.content[0].text;
    const exec = await timed(() => server.call('sandbox_exec', { container_id, commands: ['echo hello'] }));
    const stop = await timed(() => server.call('sandbox_stop', { container_id }));
    if (i < 0) continue;
    times.initialize.push(initialize.ms);
    times.exec.push(exec.ms);
    times.stop.push(stop.ms);
    times.bare.push(bare);
  }
  spawner.close();
  await server.close();
  return Object.fromEntries(Object.entries(times).map(([name, list]) => [name, summary(list)]));
}

function measureStart() {
  const initialize = `${JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params: {
    protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } } })}\n`;
  const once = () => new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(belljar, ['mcp'], { env: environment(), stdio: ['pipe', 'pipe', 'ignore'] });
    let ms;
    child.stdout.once('data', () => {
      ms = performance.now() - started;
      child.stdin.end();
    });
    child.on('close', () => (ms ? resolve(ms) : reject(new Error('belljar mcp gave no answer'))));
    child.stdin.write(initialize);
  });
  return (async () => {
    const times = [];
    for (let i = -2; i < Math.min(samples, 50); i++) {
      const ms = await once();
      if (i >= 0) times.push(ms);
    }
    return summary(times);
  })();
}

const totalPss = (pid) => [pid, ...descendants(pid).map((child) => child.pid)].reduce((sum, each) => sum + pss(each), 0);

async function measureMemory() {
  const server = await connect({ BELLJAR_MAX_SANDBOXES: '1000' });
  const atStart = memory(server.pid, 'VmRSS');
  await server.call('run_js_ephemeral', { code: hello });
  const first = (await server.call('sandbox_initialize')).content[0].text; // what the first session costs is not per session
  const idle = memory(server.pid, 'VmRSS');
  const before = totalPss(server.pid);
  const count = 50;
  for (let i = 0; i < count; i++) await server.call('sandbox_initialize');
  const perSession = (totalPss(server.pid) - before) / count;
  const processes = (descendants(server.pid).length - 2) / (count + 1);
  await server.call('sandbox_stop', { container_id: first });
  const highBefore = memory(server.pid, 'VmHWM');
  const code = 'const chunk = "x".repeat(2 ** 20); for (let i = 0; i < 100; i++) process.stdout.write(chunk)';
  const printed = (await server.call('run_js_ephemeral', { code })).structuredContent;
  const growth = memory(server.pid, 'VmHWM') - highBefore;
  await server.close();
  return { atStart, idle, perSession, processes, growth, truncated: printed.truncated, kept: printed.stdout.length };
}

async function measureManySessions() {
  const [few, many] = [await connect(), await connect({ BELLJAR_MAX_SANDBOXES: '1000' })];
  await few.call('sandbox_initialize');
  for (let i = 0; i < manySessions; i++) await many.call('sandbox_initialize');
  const times = { few: [], many: [] };
  for (let i = -3; i < Math.min(samples, 100); i++) {
    const a = await timed(() => few.call('run_js_ephemeral', { code: hello }));
    const b = await timed(() => many.call('run_js_ephemeral', { code: hello }));
    if (i < 0) continue;
    times.few.push(a.ms);
    times.many.push(b.ms);
  }
  await few.close();
  await many.close();
  return { sessions: manySessions, few: summary(times.few), many: summary(times.many) };
}

const rows = [];
const figures = {
  machine: { cpu: cpus()[0]?.model, cores: cpus().length, kernel: release(), node: process.version, date: new Date().toISOString() },
};
function row(work, measured, goal, met, against = '') {
  rows.push([work, measured, goal, met === undefined ? '' : met ? 'yes' : 'NO', against]);
}
const both = ({ p50, p90 }) => `${number(p50)} / ${number(p90)} ms`;

// One part that fails must not hide the others.
async function part(name, measure, report) {
  try {
    figures[name] = await measure();
    report(figures[name]);
  } catch (error) {
    figures[name] = { error: error.message };
    row(name, `failed: ${error.message}`, '', false);
  } finally {
    await closeAll();
  }
}

await part('hello', measureHello, ({ belljar: own, node, docker }) => {
  row('run_js_ephemeral hello, SDK over stdio', both(own), 'bare node + 4 ms', own.p50 <= node.p50 + 4,
    `${number(own.p50 / node.p50, 2)} x bare node, + ${number(own.p50 - node.p50)} ms`);
  row('bare node hello.mjs', both(node), '', undefined, '1.00 x');
  row('docker run', docker ? both(docker) : 'not available', '', undefined, docker ? `${number(docker.p50 / node.p50, 2)} x bare node` : '');
});
await part('sessions', measureSessions, ({ initialize, exec, stop, bare }) => {
  row('sandbox_initialize', both(initialize), '2 ms', initialize.p50 <= 2);
  row('sandbox_exec echo', both(exec), '3 ms', exec.p50 <= 3, `${number(exec.p50 / bare.p50, 2)} x bare sh -c echo, + ${number(exec.p50 - bare.p50)} ms`);
  row('bare sh -c echo', both(bare), '', undefined, '1.00 x');
  row('sandbox_stop', both(stop), '2 ms', stop.p50 <= 2);
});
await part('start', measureStart, (start) => row('start until initialize is answered', both(start), '20 ms', start.p50 <= 20));
await part('memory', measureMemory, ({ idle, perSession, growth, truncated, kept }) => {
  row('server memory, idle (RSS)', `${number(idle / mib)} MiB`, '30 MB', idle <= 30e6);
  row('memory per idle session (PSS)', `${number(perSession / mib, 2)} MiB`, '0.5 MB', perSession <= 0.5e6);
  row('100 MB printed: growth of the server', `${number(growth / mib)} MiB`, 'flat', growth < 16 * mib,
    `${truncated ? 'capped and marked' : 'NOT MARKED'}, ${number(kept / mib)} MiB kept`);
});
await part('many', measureManySessions, ({ sessions, few, many }) => {
  const change = (many.p50 / few.p50 - 1) * 100;
  row(`hello with ${sessions} live sessions`, both(many), '1 session + 20 %', change <= 20, `${change >= 0 ? '+' : ''}${number(change)} % against ${number(few.p50)} ms`);
});

const tools = { connect, timed, summary, samples, options, node: process.execPath, command: belljar, env: environment() };
const added = (with_, without) => `+ ${number(with_.p50 - without.p50)} ms`;
await part('files', () => measureFiles(tools), ({ without, own, first, bare, later }) => {
  row('change report, 50,000 unchanged files in a session', added(own, without), '2 ms', own.p50 - without.p50 <= 2, `run of ${number(without.p50)} ms`);
  row('the same with FILES_DIR, first run', `+ ${number(first)} ms`, '60 ms', first <= 60);
  row('the same with FILES_DIR, later runs', added(later, bare), 'no second scan', later.p50 - bare.p50 <= 10, `run of ${number(bare.p50)} ms`);
});
await part('image', () => measureImage(tools), ({ kept, returned }) =>
  row('an image of 5 MB returned, to its last byte', added(returned, kept), '15 ms', returned.p50 - kept.p50 <= 15, `run of ${number(kept.p50)} ms`));
await part('port', () => measurePort(tools), ({ published, bare, direct, through, near, far }) => {
  row('published port, one download', `${number(published)} Gbit/s`, '5 or more', published >= 5, `${number(published / bare, 2)} x bare loopback (${number(bare)})`);
  row('published port, a message there and back', `+ ${number(far.p50 - near.p50, 3)} ms`, '0.1 ms', far.p50 - near.p50 <= 0.1, `bare ${number(near.p50, 3)} ms`);
  row('published port, connect and first byte', `+ ${number(through.p50 - direct.p50, 3)} ms`, '', undefined, `bare ${number(direct.p50, 3)} ms`);
});
await part('lint', () => measureLint(tools), ({ good, failed }) => row('lint of a failed run', added(failed, good), '30 ms', failed.p50 - good.p50 <= 30));
await part('install', () => measureInstall(tools), ({ belljar: own, npm }) =>
  row('lodash installed, nothing cached', both(own), '1.15 x npm', own.p50 <= npm.p50 * 1.15, `${number(own.p50 / npm.p50, 2)} x bare npm install (${number(npm.p50)} ms)`));

const header = ['work (p50 / p90)', 'measured', 'at most', 'met', 'against'];
console.log(`${figures.machine.cores} x ${figures.machine.cpu}, Linux ${figures.machine.kernel}, Node.js ${process.version}, ${samples} samples\n`);
console.log(tableOf(header, rows));
if (options.json) writeFileSync(options.json, `${JSON.stringify(figures, null, 2)}\n`);
process.exit(rows.some((cells) => cells[3] === 'NO') ? 1 : 0);
