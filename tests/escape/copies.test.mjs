// ZY: programs that are copies of a Node.js that has booted (docs/nodes.md). What one could find of the zygote or of its
// siblings, and what it could do to them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, describe } from 'node:test';

import { processesWith } from '../e2e/lib/proc.mjs';
import { Server } from '../e2e/lib/stdio.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { test } from './lib/applies.mjs';
import { Watch } from './lib/host.mjs';
import { onlyThese, program, refusals } from './lib/jar.mjs';

const startOf = (result) => /"start":"([\w-]+)"/.exec(result.text)?.[1];
const canary = 'canary-of-the-server-5c1f';

for (const [setting, way] of Object.entries({ fork: 'fork', parked: 'parked-fork' })) {
  describe(way, () => {
    let server;
    const watch = new Watch();
    before(async () => {
      // Two are kept ready, however many were wanted at a time.
      server = Server.start(null, { env: { BELLJAR_NODE_START: setting, BELLJAR_SPARE_MEMORY: '8m', ZY_CANARY: canary } });
      await server.initialize();
      await server.run('1');
      watch.adopt(server.pid);
    });
    after(async () => {
      await server.stop();
      await watch.checkGone();
    });

    async function run(code, args = {}) {
      const result = await server.run(code, args);
      if (result.isError) throw new Error(result.text);
      assert.equal(startOf(result), way);
      return result;
    }
    const inside = async (attack, { data, ...args } = {}) => JSON.parse((await run(program(attack, data), args)).stdout);

    // The zygote, by its number on the host: the child of the launcher that has the library and is in no sandbox.
    const zygotes = () =>
      readdirSync('/proc').filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[1] === String(watch.launcher) &&
            readFileSync(`/proc/${pid}/maps`, 'utf8').includes('/run/zygote.so') && !/^NSpid:.*\s2$/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
        } catch {
          return false; // it ended, or is no process
        }
      });

    test('ZY01 ZY02 no two of 40 copies have a random value in common', async () => {
      const look = async () => {
        const crypto = await import('node:crypto');
        const vm = await import('node:vm');
        const worker = new Worker('require("worker_threads").parentPort.postMessage(Math.random())', { eval: true });
        const ofWorker = await new Promise((resolve) => worker.once('message', resolve));
        return [Math.random(), Math.random(), vm.runInNewContext('Math.random()'), ofWorker, crypto.randomUUID(), crypto.randomInt(2 ** 47), crypto.randomBytes(16).toString('hex'), crypto.getRandomValues(new Uint32Array(4)).join()];
      };
      const values = [];
      for (let n = 0; n < 5; n++) values.push(...(await Promise.all(Array.from({ length: 8 }, () => inside(look)))).flat());
      assert.equal(new Set(values).size, values.length);
    });

    test('ZY05 ZY06 nothing that is open or mapped is shared with a sibling', async () => {
      const look = () => ({
        open: fs.readdirSync('/proc/self/fd').map(Number).filter((fd) => fd > 2).map((fd) => { try { return fs.readlinkSync(`/proc/self/fd/${fd}`); } catch { return ''; } }).filter((name) => name !== '' && !name.startsWith('/proc/')),
        shared: fs.readFileSync('/proc/self/maps', 'utf8').split('\n').filter((line) => / .w.s /.test(line)),
      });
      const [one, two] = await Promise.all([inside(look), inside(look)]);
      for (const { open, shared } of [one, two]) {
        assert.deepEqual(shared, []);
        assert.deepEqual(open.filter((name) => !/^(anon_inode:\[(eventfd|eventpoll)\]|pipe:\[\d+\])$/.test(name)), []);
      }
      const pipes = [...new Set(one.open), ...new Set(two.open)].filter((name) => name.startsWith('pipe'));
      assert.equal(new Set(pipes).size, pipes.length, 'pipes that both have');
    });

    test('ZY08 neither environment nor memory has anything of the server', async () => {
      const seen = await inside((halves) => {
        const wanted = Buffer.from(halves.join(''));
        const memory = fs.openSync('/proc/self/mem', 'r');
        let found = 0;
        for (const line of fs.readFileSync('/proc/self/maps', 'utf8').split('\n')) {
          const [, first, end] = /^(\w+)-(\w+) rw.p /.exec(line) ?? [];
          const size = Number.parseInt(end, 16) - Number.parseInt(first, 16);
          if (!(size > 0 && size < 2 ** 27)) continue;
          const bytes = Buffer.alloc(size);
          try {
            fs.readSync(memory, bytes, 0, size, Number.parseInt(first, 16));
          } catch {
            continue;
          }
          for (let at = bytes.indexOf(wanted); at >= 0; at = bytes.indexOf(wanted, at + 1)) found++;
        }
        return { own: Object.keys(process.env).sort(), kernel: fs.readFileSync('/proc/self/environ', 'utf8').split('\0').filter(Boolean).map((one) => one.split('=')[0]).sort(), argv: process.argv, command: fs.readFileSync('/proc/self/cmdline', 'utf8').split('\0').filter(Boolean), found };
      }, { data: [canary.slice(0, 9), canary.slice(9)] });
      assert.deepEqual(seen.own, ['HOME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TMPDIR', 'USER']);
      assert.deepEqual(seen.kernel, seen.own);
      assert.deepEqual([seen.argv, seen.command], Array(2).fill(['/usr/local/bin/node', '/workspace/index.js']));
      assert.ok(seen.found <= 3, `${seen.found} times: more than what this program itself has of it`);
    });

    test('ZY09 ZY13 every thread has the same lack of rights', async () => {
      const { different, one, landlock } = await inside(async () => {
        const fields = /^(Cap\w+|NoNewPrivs|Seccomp|Seccomp_filters|Uid|Gid|Groups):\s*(.*?)\s*$/gm;
        const look = () => fs.readdirSync('/proc/self/task').map((task) => [...fs.readFileSync(`/proc/self/task/${task}/status`, 'utf8').matchAll(fields)].map(([, name, value]) => `${name} ${value}`).join());
        const first = look();
        const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
        await new Promise((resolve) => worker.on('online', resolve));
        const all = [...first, ...look()];
        await worker.terminate();
        return { different: new Set(all).size, one: all[0], landlock: attempt(() => fs.writeFileSync('/run/x', '')).outcome };
      });
      assert.equal(different, 1);
      // One filter more than others have: the one that keeps the zygote from io_uring.
      assert.match(one, /Uid 1000\s.*CapEff 0+,.*CapBnd 0+,.*NoNewPrivs 1,Seccomp 2,Seccomp_filters 3/);
      assert.ok(refusals.includes(landlock));
    });

    test('ZY10 ZY12 the zygote is not there to be seen, signalled or looked into', async () => {
      const [zygote] = zygotes();
      assert.ok(zygote);
      const seen = await inside((pids) => ({
        attempts: outcomes(Object.fromEntries(pids.flatMap((pid) => [[`kill ${pid}`, () => process.kill(pid, 'SIGKILL')], ...['mem', 'fd', 'maps', 'root', 'ns/pid'].map((name) => [`${name} ${pid}`, () => fs.readFileSync(`/proc/${pid}/${name}`)])]))),
        visible: fs.readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number), parent: process.ppid,
        links: ['exe', 'root', 'cwd'].map((name) => fs.readlinkSync(`/proc/self/${name}`)), run: fs.readdirSync('/run'),
      }), { data: [20_000, Number(zygote), watch.launcher] });
      onlyThese(seen.attempts, refusals, 'ESRCH');
      assert.deepEqual([seen.visible, seen.parent], [[2], 0]);
      assert.deepEqual(seen.links, ['/usr/local/bin/node', '/', '/workspace']);
      assert.deepEqual(seen.run, []);
    });

    test('ZY10 the zygote has no right but the one over sandboxes', () => {
      const status = readFileSync(`/proc/${zygotes()[0]}/status`, 'utf8');
      const sysAdmin = (1n << 21n).toString(16).padStart(16, '0');
      for (const set of ['CapPrm', 'CapEff', 'CapBnd']) assert.match(status, new RegExp(`^${set}:\\t${sysAdmin}$`, 'm'));
      assert.doesNotMatch(status, /^Uid:\t0\t/m, 'not the root of the host');
      assert.match(status, /^Seccomp:\t2$/m);
    });

    test('ZY17 a copy counts for its own sandbox', async () => {
      const word = `counts-${setting}`; // what ran before may not be gone yet
      const running = server.run(`process.title = '${word}'; setInterval(() => {}, 1000)`, { timeoutMs: 2_000 });
      const group = (pid) => readFileSync(`/proc/${pid}/cgroup`, 'utf8').trim().split('\n').filter((line) => line.includes('belljar'));
      const { pid } = await until('the program', () => processesWith(word)[0]);
      assert.equal(new Set(group(pid).map((line) => /\/(s\d+)/.exec(line)?.[1]).filter(Boolean)).size, 1, `${group(pid)}`);
      await running;
    });

    test('ZY14 killing the zygote loses no program that runs, and the next call works', async () => {
      const word = `runs-${setting}`;
      const running = run(`process.title = '${word}'; for (let i = 0; i < 3e8; i++); console.log("went on")`);
      await until('the program', () => processesWith(word).length > 0); // those that are parked are there all the time
      for (const pid of zygotes()) process.kill(Number(pid), 'SIGKILL');
      assert.match((await running).text, /went on/);
      for (let n = 0; n < 4; n++) assert.match((await server.run('console.log("next")')).text, /next/);
      await until('a new zygote', async () => startOf(await server.run('1')) === way);
    });

    test('ZY14 programs that a killed zygote was still to copy are executed', async () => {
      const [zygote] = zygotes().map(Number);
      const descriptors = () => readdirSync(`/proc/${watch.launcher}/fd`).length;
      const before = descriptors();
      process.kill(zygote, 'SIGSTOP');
      const runs = Array.from({ length: 6 }, (_, at) => server.run(`console.log("run", ${at})`)); // more than are parked
      await until('requests to wait for the zygote', () => descriptors() > before + 3); // a pipe each, at least
      process.kill(zygote, 'SIGKILL');
      assert.deepEqual((await Promise.all(runs)).map(({ stdout }) => stdout), Array.from({ length: 6 }, (_, at) => `run ${at}\n`));
      await until('a new zygote', async () => startOf(await server.run('1')) === way);
    });
  });
}

describe('sessions', () => {
  let server;
  let id;
  before(async () => {
    server = Server.start(null, { env: { BELLJAR_NODE_START: 'parked' } });
    await server.initialize();
    id = (await server.call('sandbox_initialize', {})).structuredContent.container_id;
  });
  after(() => server.stop());

  const run = (code) => server.call('run_js', { container_id: id, code });
  const parked = () => until('a parked one', async () => startOf(await run('1')) === 'parked-fork');
  const shell = async (command) => (await server.call('sandbox_exec', { container_id: id, commands: [command] })).structuredContent.results[0];

  test('ZY10 the process that waits for the next program of a session cannot be looked into', async () => {
    await parked();
    await parked(); // the first was made with the sandbox
    const { stdout } = await shell('for p in /proc/[0-9]*; do case $p in /proc/$$) ;; *) cat $p/environ $p/maps $p/mem 2>&1 >/dev/null; ls $p/fd $p/task 2>&1; esac; done; echo end');
    assert.doesNotMatch(stdout, /job|socket:|zygote/);
    assert.match(stdout, /end/);
  });

  test('ZY14 nor can it be made to hold up the next program', async () => {
    for (const signal of ['STOP', 'TERM', 'KILL', 'USR1']) {
      await parked();
      await shell(`trap '' ${signal === 'KILL' || signal === 'STOP' ? 'HUP' : signal}; for n in $(seq 2 400); do [ $n = $$ ] || kill -${signal} $n 2>/dev/null; done`);
      assert.match((await run('console.log("unharmed")')).text, /unharmed/, signal);
    }
  });
});
