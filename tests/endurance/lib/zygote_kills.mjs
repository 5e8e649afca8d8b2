// Zygotes are killed while eight callers have programs run without a pause. Only what is in flight at that moment may fail,
// and in words; then programs start as before.
import { setTimeout as sleep } from 'node:timers/promises';

import { Server } from '../../e2e/lib/stdio.mjs';
import { until } from '../../e2e/lib/wait.mjs';
import { launcherOf, sandboxedIn, slotOf } from './slot.mjs';

const callers = 8;
const patience = 60_000; // a new zygote has to compete with them all
const startOf = ({ text }) => /"start":"([\w-]+)"/.exec(text)?.[1];

// { kills, runs, failed, slowest: ms until copies were made again, problems: what must not be, in words }.
async function killUnder(nodeStart, kills, random) {
  const server = Server.start(null, { env: { BELLJAR_NODE_START: nodeStart } });
  const result = { kills: 0, runs: 0, failed: 0, slowest: 0, problems: [] };
  const problem = (words) => result.problems.push(`a zygote under load, node-start ${nodeStart}, kill ${result.kills}: ${words}`);
  await server.initialize();
  await server.run('1');
  const slot = slotOf(launcherOf(server.pid));
  const zygotes = () => sandboxedIn(slot).filter(({ isZygote }) => isZygote);
  let isOver = false;
  let copies = 0;

  async function call(at) {
    for (let n = 0; !isOver; n++) {
      const before = result.kills;
      const outcome = await server.run(`console.log(${at}, ${n})`);
      const wasInFlight = result.kills > before;
      result.runs++;
      server.received.length = 0; // or it keeps every answer
      if (!outcome.isError && outcome.stdout === `${at} ${n}\n`) {
        if (startOf(outcome) !== 'exec') copies++;
      } else if (outcome.isError && wasInFlight && /\w+ \w+/.test(outcome.text)) {
        result.failed++;
      } else {
        problem(`a run failed: ${outcome.text}`);
      }
    }
  }
  const load = Promise.all(Array.from({ length: callers }, (_, at) => call(at))).catch((error) => problem(error.message));

  while (result.kills < kills && result.problems.length === 0) {
    try {
      await until('programs to be copies', () => zygotes().length > 0 && copies > 10, patience);
      await sleep(random.below(51)); // this chooses the moment; nothing is waited for by time
      result.kills++;
      for (const { pid } of zygotes()) process.kill(pid, 'SIGKILL');
      const since = performance.now();
      copies = 0;
      await until('copies to be made again', () => copies > callers + 2, patience); // others were made before, or parked
      result.slowest = Math.max(result.slowest, performance.now() - since);
    } catch (error) {
      if (error.code !== 'ESRCH') problem(error.message);
    }
  }
  isOver = true;
  await load;
  await server.stop();
  return result;
}

export async function killZygotesUnderLoad({ kills, random }) {
  const sum = { kills: 0, runs: 0, failed: 0, slowest: 0, problems: [] };
  for (const nodeStart of ['fork', 'parked', 'auto']) {
    const one = await killUnder(nodeStart, Math.ceil(kills / 3), random);
    for (const name of ['kills', 'runs', 'failed']) sum[name] += one[name];
    sum.slowest = Math.max(sum.slowest, one.slowest);
    sum.problems.push(...one.problems);
  }
  return sum;
}
