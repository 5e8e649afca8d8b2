// How much a hostile sandbox slows its neighbours down. See bench/neighbours.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, release, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { Server } from '../tests/e2e/lib/stdio.mjs';
import { processesWith } from '../tests/e2e/lib/proc.mjs';
import { until } from '../tests/e2e/lib/wait.mjs';

const { values: options } = parseArgs({ options: { samples: { type: 'string', default: '200' }, only: { type: 'string', default: '' }, apart: { type: 'boolean', default: false }, json: { type: 'string' } } });
const samples = Number(options.samples);
const goal = 2;
const word = `bomb-${process.pid}`; // in the command line or environment of none but bombs

const node = (code) => `node --input-type=module -e '${code}' ${word}`;
const again = (body) => `import fs from "fs"; for (;;) { try { ${body} } catch {} }`;
// Shell commands that use up one thing, for ever or until they are killed for it.
const bombs = {
  memory: node('const kept = []; for (;;) kept.push(Buffer.alloc(2 ** 20, 1))'),
  'fork storm': `for i in $(seq 100); do while :; do (: ${word}); done & done; wait`,
  'fork bomb': `while :; do sh -c 'bomb() { bomb | bomb & }; bomb; wait' ${word}; done`,
  disk: node(again('const file = fs.openSync("full", "w"); try { for (;;) fs.writeSync(file, Buffer.alloc(2 ** 20, 1)) } finally { fs.closeSync(file); fs.rmSync("full") }')),
  'page cache': node(again('for (let i = 0; i < 10; i++) { fs.writeFileSync("files/" + i, Buffer.alloc(100 * 2 ** 20, i)); fs.readFileSync("files/" + i) }')),
  output: node(again('fs.writeSync(1, Buffer.alloc(2 ** 16, 120))')),
  inode: node(again('try { for (let i = 0;; i++) fs.writeFileSync("empty" + i, "") } finally { fs.readdirSync(".").forEach((name) => name.startsWith("empty") && fs.rmSync(name)) }')),
  fd: node(again('const open = []; try { for (;;) open.push(fs.openSync("/dev/null")) } finally { open.forEach((file) => fs.closeSync(file)) }')),
  cpu: `for i in 1 2 3 4; do ${node('for (;;);')} & done; wait`,
};

const quantile = (numbers, q) => [...numbers].sort((a, b) => a - b)[Math.min(numbers.length - 1, Math.floor(numbers.length * q))];

async function hellos(server) {
  const times = [];
  for (let i = 0; i < samples; i++) {
    const started = performance.now();
    const { text } = await server.run('console.log("hello")');
    times.push(performance.now() - started);
    if (!text.includes('hello')) throw new Error(text);
  }
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) };
}

// Runs the bomb in one session until `work` is done; a bomb that is killed is started again at once.
async function during(server, command, work) {
  const container_id = (await server.call('sandbox_initialize')).text;
  let done = false;
  let started = 0;
  const keepGoing = async () => {
    while (!done) {
      started++;
      await server.call('sandbox_exec', { container_id, commands: [command], timeoutMs: 600_000 }).catch(() => {});
    }
  };
  const going = keepGoing();
  await until('the bomb to run', () => processesWith(word).length > 0);
  const result = await work();
  done = true;
  await server.call('sandbox_stop', { container_id });
  await going;
  return { ...result, started };
}

const directory = mkdtempSync(join(tmpdir(), 'belljar-bench-'));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1)); // and tidies up
process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
// The hello runs share a server with the bombs, unless told otherwise; the bomb that writes to the host's disk needs one with FILES_DIR.
const server = Server.start();
const withFiles = Server.start(null, { env: { FILES_DIR: directory } });
for (const each of [server, withFiles]) await each.initialize();
await hellos(server); // fills caches

const rows = [];
for (const [name, command] of Object.entries(bombs)) {
  if (!name.includes(options.only)) continue;
  const bombed = options.apart || name === 'page cache' ? withFiles : server;
  const calm = options.apart ? server : bombed;
  const alone = await hellos(calm);
  const beside = await during(bombed, command, () => hellos(calm));
  rows.push({ name, alone, beside, ratio: beside.p99 / alone.p99 });
  const ms = ({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)} ms`;
  console.log(`${name.padEnd(10)} alone ${ms(alone)}   beside ${ms(beside)}   p99 x ${(beside.p99 / alone.p99).toFixed(2)}   bombs ${beside.started}`);
}
for (const each of [server, withFiles]) await each.stop();
console.log(`\n${cpus().length} CPUs, Linux ${release()}, ${samples} samples each; at most x ${goal}`);
if (options.json) writeFileSync(options.json, `${JSON.stringify(rows, null, 2)}\n`);
process.exit(rows.some(({ ratio }) => ratio > goal) ? 1 : 0);
