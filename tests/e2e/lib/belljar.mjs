// The program under test, and the ways to start it.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../../..', import.meta.url));
export const belljar = process.env.BELLJAR ?? `${root}build/release/belljar`;

// A word that occurs nowhere else on this machine: to find a program's processes by.
export const marker = () => `e2e-${randomUUID()}`;

// What tests install is kept apart from the packages of whoever runs them, and goes with the tests. Runtimes are shared.
const store = `test-${process.pid}`;
export const dataDirectory = process.env.BELLJAR_DATA_DIR ?? `${process.env.XDG_DATA_HOME ?? `${process.env.HOME}/.local/share`}/belljar`;
export const packagesDirectory = `${dataDirectory}/packages-${store}`;
process.on('exit', () => rmSync(packagesDirectory, { recursive: true, force: true, maxRetries: 3 }));

// What MCP clients pass on, and where belljar keeps its data; nothing else, so that the settings of whoever runs
// the tests do not change their outcome. Which way "auto" takes depends on the moment: a test has one way, and those of
// another way say so.
export function environment(extra = {}) {
  const kept = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'XDG_DATA_HOME', 'BELLJAR_DATA_DIR', 'TSAN_OPTIONS'];
  // Registries of tests change what they say from one call to the next.
  const env = { BELLJAR_CONFIG: '/dev/null', BELLJAR_PACKAGES_MAX_AGE: '0', BELLJAR_NETWORK: 'none', BELLJAR_NODE_START: process.env.TEST_NODE_START ?? 'exec' }; // tests contact nobody
  // The same tests for the docker driver: where its engine listens, and an image with a Node.js.
  const { TEST_DOCKER: engine, TEST_DOCKER_IMAGE: image, TEST_DOCKER_RUNTIME: runtime } = process.env;
  if (engine) Object.assign(env, { BELLJAR_DRIVER: 'docker', BELLJAR_DOCKER_HOST: engine, BELLJAR_DOCKER_IMAGES: '*', BELLJAR_IMAGE: image });
  if (engine && runtime) env.BELLJAR_DOCKER_RUNTIME = runtime;
  if (extra.BELLJAR_DATA_DIR === undefined) env.BELLJAR_PACKAGES_STORE = store;
  for (const name of kept) if (process.env[name] !== undefined) env[name] = process.env[name];
  return { ...env, ...extra };
}

// Runs belljar to its end: { code, signal, stdout, stderr, ms }.
export function cli(args, { input = '', env = {}, cwd } = {}) {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(belljar, args, { env: environment(env), cwd, stdio: ['pipe', 'pipe', 'pipe'] });
    const out = [];
    const err = [];
    child.stdout.on('data', (bytes) => out.push(bytes));
    child.stderr.on('data', (bytes) => err.push(bytes));
    child.stdin.on('error', () => {}); // it need not read what we write
    child.stdin.end(input);
    child.on('error', reject);
    child.on('close', (code, signal) =>
      resolve({
        code,
        signal,
        stdout: Buffer.concat(out).toString(),
        stderr: Buffer.concat(err).toString(),
        ms: performance.now() - started,
      }),
    );
  });
}
