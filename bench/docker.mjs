// The docker driver against the docker command line. See bench/docker.
import { mkdtempSync, rmSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { number, quantile, summary, tableOf, timed } from './lib/numbers.mjs';
import { makeSpawner } from './lib/others.mjs';
import { RawClient } from './lib/raw.mjs';

const { values: options } = parseArgs({ options: { quick: { type: 'boolean', default: false }, runtime: { type: 'string', default: '' } } });
const rounds = options.quick ? 8 : 30;
const { BELLJAR_TEST_DOCKER: socket, BELLJAR_TEST_DOCKER_IMAGE: image } = process.env;
const data = mkdtempSync('/var/tmp/belljar-bench-');
const settings = { BELLJAR_DRIVER: 'docker', BELLJAR_DOCKER_HOST: `unix://${socket}`, BELLJAR_DOCKER_IMAGES: '*', BELLJAR_IMAGE: image, BELLJAR_DATA_DIR: data, ...(options.runtime && { BELLJAR_DOCKER_RUNTIME: options.runtime }) };
const code = 'console.log("hello")';
const sealed = ['--network', 'none', '--cap-drop', 'ALL', '--security-opt', 'no-new-privileges', '--read-only', '--memory', '512m', '--pids-limit', '256', '--user', '1000'];

const spawner = makeSpawner();
// The spawner wants to see "hello"; the shell takes a millisecond.
const docker = (...args) => spawner.run(['sh', '-c', '"$@" >/dev/null && echo hello', 'sh', 'docker', '--host', `unix://${socket}`, ...args]);
const warm = await RawClient.start({ ...settings, BELLJAR_DOCKER_WARM: '2' });
const cold = await RawClient.start({ ...settings, BELLJAR_DOCKER_WARM: '0' });
const ephemeral = async (client) => (await timed(() => client.call('run_js_ephemeral', { code }))).ms;
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const { structuredContent: { container_id: session } } = await warm.call('sandbox_initialize');
await docker('run', '--detach', '--name', 'bench', ...sealed, image, 'sleep', '100000');
const times = Object.fromEntries(['run', 'sequence', 'exec', 'warm', 'cold', 'session', 'eight'].map((name) => [name, []]));
await ephemeral(warm);
for (let i = 0; i < rounds; ++i) {
  times.run.push(await docker('run', '--rm', ...sealed, image, 'node', '-e', code));
  let sequence = await docker('run', '--detach', '--name', `seq-${i}`, ...sealed, image, 'sleep', '1000');
  sequence += await docker('exec', `seq-${i}`, 'node', '-e', code);
  sequence += await docker('rm', '--force', `seq-${i}`);
  times.sequence.push(sequence);
  times.exec.push(await docker('exec', 'bench', 'node', '-e', code));
  times.session.push((await timed(() => warm.call('run_js', { container_id: session, code }))).ms);
  times.cold.push(await ephemeral(cold));
  await pause(1500); // the pool is full again
  times.warm.push(await ephemeral(warm));
  await pause(500);
}
for (let i = 0; i < Math.max(3, rounds / 5); ++i) {
  const { ms } = await timed(() => Promise.all(Array.from({ length: 8 }, () => cold.call('run_js_ephemeral', { code }))));
  times.eight.push(ms);
}
await docker('rm', '--force', 'bench');
await Promise.all([warm.close(), cold.close()]);
spawner.close();
rmSync(data, { recursive: true, force: true });

const p50 = (name) => summary(times[name]).p50;
const ms = (name) => `${number(p50(name), 0)} ms`;
const ratio = (name, against) => `${number(p50(name) / p50(against), 2)} x`;
const rows = [
  ['ephemeral hello, warm', '1/4 of the sequence', ms('warm'), ratio('warm', 'sequence'), p50('warm') <= p50('sequence') / 4],
  ['ephemeral hello, cold', '2/3 of the sequence', ms('cold'), ratio('cold', 'sequence'), p50('cold') <= (p50('sequence') * 2) / 3],
  ['run_js in a session', 'half of docker exec', ms('session'), ratio('session', 'exec'), p50('session') <= p50('exec') / 2],
  ['8 callers at once, cold, all answered', 'less than 8 x one', ms('eight'), ratio('eight', 'cold'), p50('eight') < 8 * p50('cold')],
];
console.log(tableOf(['work', 'goal', 'p50', 'against it', ''], rows.map((row) => [...row.slice(0, 4), row[4] ? 'ok' : 'MISSED'])));
console.log(`\ndocker run --rm: ${ms('run')}; docker run --detach, exec, rm: ${ms('sequence')}; docker exec: ${ms('exec')} (p50 of ${rounds}; p90 of warm ${number(quantile(times.warm, 0.9), 0)} ms)`);
process.exitCode = rows.every((row) => row[4]) ? 0 : 1;
