// What a network policy costs. See bench/network.
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { parseArgs } from 'node:util';

import { until } from '../tests/e2e/lib/wait.mjs';
import { addresses, ports } from '../tests/network/lib/addresses.mjs';
import { Bench } from '../tests/network/lib/bench.mjs';
import { SecretsBench } from '../tests/network/lib/secrets_bench.mjs';

const { values: options } = parseArgs({ options: { samples: { type: 'string', default: '200' }, cycles: { type: 'string', default: '1000' }, json: { type: 'string' } } });
const samples = Number(options.samples);
const cycles = Number(options.cycles);
const median = (numbers) => [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)];
const rows = [];

function row(name, value, unit, goal, holds, beside) {
  rows.push({ name, value, unit, goal, holds, beside });
  console.log(`${name.padEnd(44)} ${value.toFixed(2)} ${unit}   ${beside}   goal ${goal}${holds ? '' : '   MISSED'}`);
}

async function hello(server, network) {
  const started = performance.now();
  const { text } = await server.run('console.log("hello")', { network });
  if (!text.includes('hello')) throw new Error(text);
  return performance.now() - started;
}

async function measureRuns(server) {
  const times = { none: [], internet: [] };
  for (let i = -5; i < samples; i++) {
    for (const network of Object.keys(times)) {
      const ms = await hello(server, network);
      if (i >= 0) times[network].push(ms);
    }
  }
  const [none, internet] = [median(times.none), median(times.internet)];
  row('a run with internet, more than with none', internet - none, 'ms', '<= 1 ms', internet - none <= 1, `${internet.toFixed(2)} / ${none.toFixed(2)} ms`);
}

// These two run in a sandbox or on the host.
async function connects({ address, port, count }) {
  const { default: net } = await import('node:net');
  const times = [];
  for (let i = 0; i < count; i++) {
    const started = performance.now();
    await new Promise((resolve, reject) => {
      const socket = net.connect(port, address, () => {
        times.push(performance.now() - started);
        socket.destroy();
        resolve();
      });
      socket.on('error', reject);
    });
  }
  return times;
}

async function download({ address, bytes }) {
  const { default: net } = await import('node:net');
  const socket = net.connect({ port: 80, host: address, onread: { buffer: Buffer.alloc(1 << 20), callback: (size) => ((got += size), true) } });
  let got = 0;
  const started = performance.now();
  socket.write(`GET /bytes/${bytes} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
  await new Promise((resolve, reject) => socket.on('close', resolve).on('error', reject));
  if (got < bytes) throw new Error(`got ${got} of ${bytes} bytes`);
  return (got * 8) / 1e6 / (performance.now() - started);
}

async function measureConnections(bench) {
  const data = { address: addresses.public.v4, port: ports.echo[0], count: samples };
  const outside = median(await bench.onHost(connects, data));
  const { seen } = await bench.inside(connects, { data, network: 'internet' });
  const more = median(seen) - outside;
  row('a connection by policy, more than without', more, 'ms', '<= 0.3 ms', more <= 0.3, `${median(seen).toFixed(2)} / ${outside.toFixed(2)} ms`);
}

async function measureThroughput(bench) {
  const data = { address: addresses.public.v4, bytes: 2 ** 31 };
  const outside = [];
  const inside = [];
  for (let i = 0; i < 3; i++) {
    outside.push(await bench.onHost(download, data));
    inside.push((await bench.inside(download, { data, network: 'internet' })).seen);
  }
  const gbits = median(inside);
  row('a download by policy', gbits, 'Gbit/s', '>= 5 Gbit/s', gbits >= 5, `${median(outside).toFixed(2)} Gbit/s without a sandbox`);
}

// In a sandbox: requests by HTTPS, each on a connection of its own or all on one.
async function requests({ host, ca, keepAlive, count }) {
  const { default: https } = await import('node:https');
  const agent = new https.Agent({ keepAlive, ca });
  const headers = { authorization: `Bearer ${process.env.GITHUB_TOKEN}` };
  const times = [];
  for (let i = -5; i < count; i++) {
    const started = performance.now();
    await new Promise((resolve, reject) => {
      https.get({ host, agent, headers }, (answer) => answer.resume().on('end', resolve)).on('error', reject);
    });
    if (i >= 0) times.push(performance.now() - started);
  }
  agent.destroy();
  return times;
}

async function measureSecrets() {
  const bench = new SecretsBench();
  await bench.start();
  const ca = readFileSync(bench.authority.file, 'utf8');
  for (const [what, keepAlive, most] of [['a request with a secret, more than without', true, 0.5], ['a connection with a secret, more than without', false, 5]]) {
    const { seen: guarded } = await bench.inside(requests, { data: { host: 'api.test', keepAlive, count: samples } });
    const { seen: plain } = await bench.inside(requests, { data: { host: 'ordinary.test', ca, keepAlive, count: samples } });
    const more = median(guarded) - median(plain);
    row(what, more, 'ms', `<= ${most} ms`, more <= most, `${median(guarded).toFixed(2)} / ${median(plain).toFixed(2)} ms`);
  }
  await bench.stop();
}

// Network namespaces that some process is in.
function networks() {
  const seen = new Set();
  for (const name of readdirSync('/proc')) {
    try {
      if (/^\d+$/.test(name)) seen.add(readlinkSync(`/proc/${name}/ns/net`));
    } catch {
      // it has ended meanwhile
    }
  }
  return seen.size;
}

async function measureLeftovers(bench) {
  const count = () => ({
    namespaces: networks(),
    interfaces: bench.lab.host.sh('ls /sys/class/net 2>/dev/null | wc -l; ip -o link | wc -l'),
    rules: bench.lab.host.sh('cat /proc/net/netfilter/nf_tables 2>/dev/null | wc -l; ip route show table all | wc -l'),
  });
  const before = count();
  const server = await bench.serve(null);
  const started = performance.now();
  for (let i = 0; i < cycles; i++) await hello(server, 'internet');
  const each = (performance.now() - started) / cycles;
  await server.stop();
  const same = () => JSON.stringify(count()) === JSON.stringify(before);
  await until('the last namespace to go', same, 5_000).catch(() => {});
  const left = count().namespaces - before.namespaces;
  row(`namespaces left of ${cycles} sandboxes`, left, '', '0, nor interfaces or rules', same(), `${each.toFixed(1)} ms each`);
}

console.log(`belljar with network policies, ${cpus().length} x ${cpus()[0].model}, Linux ${release()}\n`);
const bench = new Bench();
await bench.start();
await measureRuns(bench.server);
await measureConnections(bench);
await measureThroughput(bench);
await measureLeftovers(bench);
await bench.stop();
await measureSecrets();
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
process.exit(rows.every(({ holds }) => holds) ? 0 : 1);
