// belljar with the docker driver, through its tools, beside a private engine (with_engine.mjs).
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, chownSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';

import { cli } from '../e2e/lib/belljar.mjs';
import { connect } from '../e2e/lib/client.mjs';
import { freePort } from '../e2e/lib/ports.mjs';
import { until } from '../e2e/lib/wait.mjs';
import { call as ask, listOurs, must } from './lib/api.mjs';
import { killsAWholeRun, sharesFiles } from './lib/behaviours.mjs';
import { Docker } from './lib/engines.mjs';
import { EngineInBetween, HostileRegistry, withRunc } from './lib/hostile.mjs';
import { importImage } from './lib/image.mjs';

const socket = process.env.BELLJAR_TEST_DOCKER;
const isPodman = process.env.BELLJAR_TEST_ENGINE === 'podman';
const data = mkdtempSync('/var/tmp/belljar-docker-');
const files = `${data}/shared`;
mkdirSync(files);
chownSync(files, 1000, 1000);
Object.assign(process.env, { TEST_DOCKER: `unix://${socket}`, TEST_DOCKER_IMAGE: process.env.BELLJAR_TEST_DOCKER_IMAGE });
const env = { BELLJAR_DATA_DIR: data, BELLJAR_DOCKER_WARM: '1' };
const start = (more = {}) => connect({ env: { ...env, ...more } });

const api = async (method, path) => JSON.parse((await must(socket, method, `/v1.41${path}`)) || 'null');
const list = () => listOurs(socket);
const ours = async () => (await list()).map(({ Id }) => Id);
const gone = (what) => until(what, async () => (await ours()).length === 0, 60_000);

let client;
before(async () => (client = await start()));
after(async () => {
  await client?.close();
  // A client that ends waits some seconds and no longer for its server: what that left the next start removes.
  assert.equal((await cli(['run', '-e', '1'], { env })).code, 0);
  await gone('the last container to go');
  assert.deepEqual(readdirSync(`${data}/docker`), ['lock'], 'directories of sandboxes are left');
  rmSync(data, { recursive: true, force: true });
});

describe('tools', () => {
  test('run a program, and say what stood around it', async () => {
    const result = await client.run('console.log("hello from", process.version, process.getuid(), process.cwd())');
    assert.match(result.text, /hello from v\d+\.\d+\.\d+ 1000 \/workspace/);
    assert.match(result.isolation.boundary, isPodman ? /^Podman 4/ : /^Docker Engine 20\.10\.\S+, runc$/);
  });

  test('report how programs fail, and the telemetry', async () => {
    const failed = await client.call('run_js_ephemeral', { code: 'console.error("no"); process.exit(3)' });
    assert.equal(failed.exitCode, 3);
    assert.ok(failed.telemetry);
    const late = await client.call('run_js_ephemeral', { code: 'setInterval(() => {}, 1000)', timeoutMs: 500 });
    assert.equal(late.timedOut, true, late.text);
    const large = await client.call('run_js_ephemeral', { code: 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));', limits: { memory: '128m' } });
    assert.equal(large.oomKilled, true, large.text);
  });

  test('keep a session with its files, and report what changed', async (t) => {
    const session = await client.session(t);
    const first = await session.run('import fs from "node:fs"; fs.writeFileSync("files/note.txt", "kept"); console.log(1)');
    assert.ok(first.changes.some((line) => line.includes('note.txt')), first.text);
    const second = await session.run('import fs from "node:fs"; console.log(fs.readFileSync("files/note.txt", "utf8"))');
    assert.match(second.text, /kept/);
    const shell = await session.exec('echo from $0; cat files/note.txt');
    assert.match(shell.text, /kept/);
    const read = await session.call('sandbox_read_file', { path: 'files/note.txt' });
    assert.match(read.text, /kept/);
  });

  test('kill a whole run, and leave the rest of the session alone', async (t) => killsAWholeRun(await client.session(t)));

  test('publish a port', async (t) => {
    const port = await freePort();
    const session = await client.session(t, { port });
    await session.run(`import http from 'node:http'; http.createServer((q, a) => a.end('served')).listen(${port});`, { listenOnPort: port });
    assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'served');
  });

  test('share the files directory with its owner', async (t) => {
    const sharing = await start({ FILES_DIR: files });
    t.after(() => sharing.close());
    await sharesFiles(sharing, files);
  });
});

describe('images', () => {
  test('that are not offered, not there, or no names are told apart', async (t) => {
    const strict = await start({ BELLJAR_DOCKER_IMAGES: `${process.env.BELLJAR_TEST_DOCKER_IMAGE},localhost/none:*` });
    t.after(() => strict.close());
    const call = async (image) => (await strict.call('run_js_ephemeral', { code: '1', image })).text;
    assert.match(await call('localhost/other:1'), /not offered/);
    assert.match(await call('localhost/none:1'), /does not have the image/);
    assert.match(await call('../../images/json'), /must be an image name/); // IJ04
  });

  test('have limits of their own, which the kernel enforces', async (t) => {
    const [name] = process.env.BELLJAR_TEST_DOCKER_IMAGE.split(':');
    const own = await start({ BELLJAR_IMAGE_LIMITS: `${name}:*=memory:96m,pids:77`, BELLJAR_DATA_DIR: mkdtempSync(`${data}/own-`) });
    t.after(() => own.close());
    const limits = `import fs from 'node:fs';
      const read = (...paths) => fs.readFileSync(paths.find((path) => fs.existsSync(path)), 'utf8').trim();
      console.log(read('/sys/fs/cgroup/memory.max', '/sys/fs/cgroup/memory/memory.limit_in_bytes'), read('/sys/fs/cgroup/pids.max', '/sys/fs/cgroup/pids/pids.max'));`;
    assert.match((await own.run(limits)).text, new RegExp(`^${96 << 20} 77$`, 'm'));
    assert.match((await own.run(limits, { limits: { memory: '128m' } })).text, new RegExp(`^${128 << 20} 77$`, 'm'));
    const large = await own.call('run_js_ephemeral', { code: 'const all = []; for (;;) all.push(Buffer.alloc(1 << 24, 1));' });
    assert.match(large.text, /may use 96 MiB/);
  });

  // Podman's API takes any, and ignores it.
  if (!isPodman) test('the OCI runtime is the operator\'s choice, and results say it', async () => {
    const chosen = await cli(['run', '--json', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_RUNTIME: 'second' } });
    assert.match(JSON.parse(chosen.stdout).isolation.boundary, /, second$/);
  });
  if (!isPodman) test('an OCI runtime that the engine does not have is refused', async () => {
    const refused = await cli(['run', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_RUNTIME: 'runsc-of-nobody' } });
    assert.match(refused.stderr, /has no runtime .runsc-of-nobody.: .*choose one of .*runc/);
  });
});

// What `docker login` would have written, and belljar with it; `said` is all that it says.
async function pullPrivate(login) {
  const { BELLJAR_TEST_DOCKER_PRIVATE: registry } = process.env;
  const config = `${data}/config.json`;
  if (login) writeFileSync(config, JSON.stringify({ auths: { [registry]: { auth: Buffer.from(login).toString('base64') } } }), { mode: 0o600 });
  const settings = { ...env, BELLJAR_DOCKER_WARM: '0', BELLJAR_DOCKER_PULL: 'yes', BELLJAR_IMAGE: `${registry}/node:1`, BELLJAR_LOG_LEVEL: 'debug', BELLJAR_DOCKER_CONFIG: login ? config : '' };
  const result = await cli(['run', '-e', '1'], { env: settings });
  const shown = await cli(['config'], { env: settings });
  rmSync(config, { force: true });
  return { result, said: result.stdout + result.stderr + shown.stdout + shown.stderr };
}

describe('a registry that asks who is there', () => {
  const { BELLJAR_TEST_DOCKER_PRIVATE: registry, BELLJAR_TEST_DOCKER_LOGIN: login } = process.env;
  const secrets = (of) => [of.slice(of.indexOf(':') + 1), Buffer.from(of).toString('base64'), Buffer.from(`{"username":"${of.split(':')[0]}`).toString('base64url').slice(0, 24)];
  const isImageThere = async () => (await ask(socket, 'GET', `/v1.41/images/${registry}/node:1/json`)).status === 200;

  test('refuses whoever has no login, or a wrong one, and gives its image to a right one', async () => {
    assert.match((await pullPrivate()).said, new RegExp(`the registry ${registry} does not give the image .* and belljar has no credentials for it`));
    const wrong = await pullPrivate('tester:guessed-it');
    assert.match(wrong.said, new RegExp(`the registry ${registry} does not give the image .* to the credentials that docker-config has for it`));
    assert.equal(await isImageThere(), false);
    const right = await pullPrivate(login);
    assert.equal(right.result.code, 0, right.result.stderr);
    assert.equal(right.result.stdout, '24.0.0\n');
    assert.equal(await isImageThere(), true);
    for (const secret of secrets('tester:guessed-it')) assert.ok(!wrong.said.includes(secret), 'it says what is secret');
    for (const secret of secrets(login)) assert.ok(!right.said.includes(secret), 'it says what is secret');
  });

  test('a file with logins that cannot be read is told by its name', async () => {
    const config = `${data}/broken.json`;
    writeFileSync(config, '{"auths": ');
    for (const [file, why] of [[config, 'is no JSON'], ['/nonexistent/config.json', 'No such file']]) {
      const { code, stderr } = await cli(['run', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_CONFIG: file } });
      assert.notEqual(code, 0);
      assert.match(stderr, new RegExp(`${file}.*${why}`));
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
  });
});

describe('attacks', () => {
  test('DK01: a container is what it was meant to be', async (t) => {
    const others = new Set((await list()).map(({ Labels }) => Labels['belljar.run']));
    const alone = await start({ BELLJAR_DOCKER_WARM: '0' });
    t.after(() => alone.close());
    const session = await alone.session(t);
    await session.run('1');
    const its = (await list()).filter(({ Labels }) => !others.has(Labels['belljar.run']));
    assert.equal(its.length, 1);
    for (const { Id: id } of its) {
      const { HostConfig: host, Config: config, State: state } = await api('GET', `/containers/${id}/json`);
      assert.equal(state.Running, true);
      assert.equal(host.Privileged, false);
      assert.deepEqual(host.CapAdd ?? [], []);
      assert.equal(host.ReadonlyRootfs, true);
      assert.equal(host.NetworkMode, 'none');
      assert.notEqual(host.PidMode, 'host');
      assert.notEqual(host.IpcMode, 'host');
      assert.ok(host.PidsLimit > 0 && host.Memory > 0);
      assert.equal(host.MemorySwap, host.Memory);
      assert.deepEqual(host.Devices ?? [], []);
      assert.match(config.User, /^1000/);
      const status = readFileSync(`/proc/${state.Pid}/status`, 'utf8');
      assert.match(status, /^NoNewPrivs:\t1$/m);
      assert.match(status, /^Seccomp:\t2$/m);
      for (const set of ['CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb']) assert.match(status, new RegExp(`^${set}:\t0+$`, 'm'));
    }
  });

  test('DK02: no engine can be reached from inside', async () => {
    const result = await client.run(`import fs from 'node:fs'; import net from 'node:net';
      const found = ['/var/run/docker.sock', '/run/docker.sock', '/run/containerd/containerd.sock', '/run/podman/podman.sock', '/.belljar/host/agent.sock'].filter((path) => fs.existsSync(path));
      const names = fs.readFileSync('/proc/net/unix', 'utf8').split('\\n').filter((line) => /containerd|docker|podman|shim/.test(line));
      const port = await new Promise((resolve) => net.connect(2375, '127.0.0.1').on('connect', () => resolve('open')).on('error', () => resolve('closed')));
      console.log(JSON.stringify({ found, names, port }));`);
    assert.match(result.text, /\{"found":\[\],"names":\[\],"port":"closed"\}/);
  });

  describe('DK04: an image that costs too much', () => {
    const hostile = async (t, image) => {
      const registry = await new HostileRegistry(image).start();
      t.after(() => registry.stop());
      return registry;
    };
    const pull = async (t, registry, more = {}) => {
      const image = `${registry.address}/bomb:1`;
      const own = await start({ BELLJAR_DOCKER_PULL: 'yes', BELLJAR_DOCKER_IMAGES: '127.0.0.1:*', ...more });
      t.after(() => own.close());
      const result = await own.call('run_js_ephemeral', { code: '1', image });
      assert.equal(result.isError, true);
      assert.equal((await ask(socket, 'GET', `/v1.41/images/${image}/json`)).status, 404, 'it was kept');
      return result.text;
    };

    test('DK04: of too many layers is given up', async (t) => {
      assert.match(await pull(t, await hostile(t, { count: 500 })), /has more than 128 layers/);
    });

    test('DK04: of too many bytes is given up before they are there', async (t) => {
      assert.match(await pull(t, await hostile(t, { size: 50e9 })), /over the limit of 4 GiB for a download/);
    });

    test('DK04: is not asked for unless the operator lets belljar pull', async (t) => {
      const registry = await hostile(t, {});
      assert.match(await pull(t, registry, { BELLJAR_DOCKER_PULL: 'no' }), /does not have the image/);
      assert.match(await pull(t, registry, { BELLJAR_DOCKER_IMAGES: 'node:*' }), /not offered/);
      assert.deepEqual(registry.asked, []);
    });
  });

  describe('DK05: an old engine', () => {
    const between = async (t, version) => {
      const engine = await new EngineInBetween(socket, `${mkdtempSync(`${data}/between-`)}/engine.sock`, version).start();
      t.after(() => engine.stop());
      return { ...env, BELLJAR_DOCKER_HOST: `unix://${engine.path}` };
    };
    const doctor = async (where, ...flags) => {
      const { code, stdout } = await cli(['doctor', '--json', ...flags], { env: where });
      const report = JSON.parse(stdout);
      return { code, report, runc: report.features.find(({ name }) => name === 'runc') };
    };

    test('DK05: whose runc lacks known fixes is told with the fix, and refused where that is required', async (t) => {
      const where = await between(t, withRunc('1.2.7'));
      const { code, report, runc } = await doctor(where);
      assert.equal(code, 0);
      assert.equal(runc.state, 'degraded');
      assert.match(`${runc.detail} ${runc.fix}`, /1\.2\.7 lacks known fixes.*CVE-2025-31133.*CVE-2026-41579/);
      assert.ok(report.isolation.weaker.includes('runc'));
      assert.deepEqual((await doctor(where, '--require=runc')).report.unmet, ['runc']);
      const refused = await cli(['run', '--require=runc', '-e', 'console.log("ran")'], { env: where });
      assert.notEqual(refused.code, 0);
      assert.equal(refused.stdout, '');
      assert.match(refused.stderr, /runc: 1\.2\.7 lacks known fixes/);
    });

    test('DK05: whose runc has the fixes is not warned of', async (t) => {
      const where = await between(t, withRunc('1.4.3'));
      assert.equal((await doctor(where, '--require=runc')).runc.state, 'ok');
    });

    test('DK05: of an API before 1.41 is refused', async (t) => {
      const where = await between(t, (said) => ({ ...said, ApiVersion: '1.40' }));
      const refused = await cli(['run', '-e', '1'], { env: where });
      assert.notEqual(refused.code, 0);
      assert.match(refused.stderr, /too old: belljar needs Docker Engine 20\.10 or Podman 3/);
    });

    test('DK05: gets our own seccomp profile with every container', async (t) => {
      const engine = await new EngineInBetween(socket, `${mkdtempSync(`${data}/between-`)}/engine.sock`).start();
      const own = await connect({ env: { ...env, BELLJAR_DOCKER_HOST: `unix://${engine.path}` } });
      // It removes its containers through the engine.
      t.after(async () => {
        await own.close();
        engine.stop();
      });
      await own.run('1');
      await (await own.session(t)).run('1');
      assert.ok(engine.created.length >= 2);
      for (const { HostConfig: { SecurityOpt: options } } of engine.created) {
        assert.ok(options.includes('no-new-privileges'));
        const [given] = options.filter((option) => option.startsWith('seccomp=')).map((option) => option.slice('seccomp='.length));
        const profile = JSON.parse(isPodman ? readFileSync(given, 'utf8') : given);
        assert.equal(profile.defaultAction, 'SCMP_ACT_ERRNO');
        assert.ok(!profile.syscalls.some(({ names, action }) => action === 'SCMP_ACT_ALLOW' && names.some((name) => ['mount', 'unshare', 'bpf', 'keyctl', 'ptrace'].includes(name))));
      }
    });
  });

  test('DK06: containers do not see each other', async () => {
    const result = await client.run(`import os from 'node:os'; console.log(JSON.stringify(Object.keys(os.networkInterfaces())));`);
    assert.match(result.text, /\["lo"\]|\[\]/);
  });

  test('DK08: a program cannot be anybody else, or somewhere else', async () => {
    const result = await client.run(`import fs from 'node:fs';
      const attempt = (what) => { try { what(); return 'worked'; } catch (error) { return error.code; } };
      console.log([attempt(() => process.setuid(0)), attempt(() => fs.writeFileSync('/etc/passwd', '')), attempt(() => fs.writeFileSync('/.belljar/host/x', '')),
        attempt(() => fs.writeFileSync('/.belljar/agent', '')), attempt(() => fs.readFileSync('/proc/1/environ')), attempt(() => fs.openSync('/proc/1/mem', 'r+')), attempt(() => fs.readdirSync('/proc/1/fd'))].join(' '));`);
    assert.match(result.text, /^EPERM (EROFS|EACCES) EROFS (EROFS|ETXTBSY|EACCES) EACCES EACCES EACCES$/m);
  });

  test('the agent cannot be killed or stopped by a program', async (t) => {
    const session = await client.session(t);
    await session.run('for (const signal of ["SIGKILL", "SIGSTOP", "SIGTERM", "SIGINT"]) { try { process.kill(1, signal); } catch {} }');
    assert.match((await session.run('console.log("still here")')).text, /still here/);
  });
});

describe('when something breaks', () => {
  test('kill -9 of belljar leaves nothing after the next start', async (t) => {
    const runs = async () => (await list()).map(({ Labels }) => Labels['belljar.run']);
    const others = await runs();
    const victim = await start();
    await victim.succeed('sandbox_initialize');
    const [its] = (await runs()).filter((run) => !others.includes(run));
    assert.ok(its);
    process.kill(victim.pid, 'SIGKILL');
    const next = await start();
    t.after(() => next.close());
    await until('the orphans to go', async () => !(await runs()).includes(its), 60_000);
    assert.match((await next.run('console.log("works")')).text, /works/);
  });

  test('a container that somebody removes is told, and the next sandbox works', async (t) => {
    const lonely = await start({ BELLJAR_DOCKER_WARM: '0', BELLJAR_DATA_DIR: mkdtempSync(`${data}/own-`) });
    t.after(() => lonely.close());
    const known = new Set(await ours());
    const session = await lonely.session(t);
    const [own] = (await ours()).filter((id) => !known.has(id));
    const running = session.call('run_js', { code: 'setInterval(() => {}, 1000)' });
    await api('DELETE', `/containers/${own}?force=1`);
    const result = await running;
    assert.equal(result.isError, true, result.text);
    assert.match((await session.call('run_js', { code: '1' })).text, /container has ended|no such sandbox/i);
    assert.match((await lonely.run('console.log("works")')).text, /works/);
  });

  // Podman has no daemon to kill.
  if (!isPodman) test('an engine that is killed loses no run, and one that comes back is used again', async (t) => {
    const engine = new Docker(`${data}/engine`);
    t.after(() => engine.remove());
    await engine.start();
    await importImage(engine.socket, 'localhost/belljar-test', '1', process.execPath);
    const own = await start({ BELLJAR_DOCKER_HOST: `unix://${engine.socket}`, BELLJAR_DOCKER_WARM: '0', BELLJAR_DATA_DIR: mkdtempSync(`${data}/own-`) });
    t.after(() => own.close());
    const session = await own.session(t);
    await session.exec('mkfifo go');
    const running = session.run('import fs from "node:fs"; fs.readFileSync("go"); console.log("went on")');
    await engine.stop('SIGKILL');
    const refused = await own.call('run_js_ephemeral', { code: '1' });
    assert.equal(refused.isError, true);
    assert.match(refused.text, /no container engine answers/);
    await session.exec('echo > go');
    assert.match((await running).text, /went on/);
    await engine.start();
    assert.match((await own.run('console.log("works")')).text, /works/);
  });

  test('an engine that is not there is one sentence', async () => {
    const result = await cli(['run', '-e', '1'], { env: { ...env, BELLJAR_DOCKER_HOST: 'unix:///nonexistent/docker.sock' } });
    assert.notEqual(result.code, 0);
    assert.match(result.stderr, /nonexistent\/docker\.sock/);
    assert.equal(result.stderr.trim().split('\n').length, 1, result.stderr);
  });
});

test('many sandboxes leave nothing', async () => {
  const count = Number(process.env.CYCLES ?? 30);
  const many = await start({ BELLJAR_DOCKER_WARM: '2' });
  for (let i = 0; i < count; i += 5) {
    await Promise.all([1, 2, 3, 4, 5].map(async (n) => assert.match((await many.run(`console.log("run", ${i} + ${n})`)).text, new RegExp(`run ${i + n}`))));
  }
  await many.close();  // see after() for what is left
});
