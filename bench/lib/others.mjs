// What belljar is measured against.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { root } from '../../tests/e2e/lib/belljar.mjs';

// Other programs are started by a helper: a large process such as this one is slow to spawn from.
export function makeSpawner() {
  const helper = fileURLToPath(new URL('../spawner.py', import.meta.url));
  const child = spawn('python3', [helper], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async run(argv) {
      child.stdin.write(`${JSON.stringify(argv)}\n`);
      const { value } = await lines.next();
      if (!(Number(value) > 0)) throw new Error(`${argv.join(' ')} failed`);
      return Number(value);
    },
    close: () => child.stdin.end(),
  };
}

export const dockerAnswers = () =>
  spawnSync('docker', ['image', 'inspect', 'node:lts-slim'], { timeout: 5_000, stdio: 'ignore' }).status === 0;

// The path of a bun from the registry that npm is configured for, kept in build/; undefined if there is none to be had.
// Its package has a program per kind of processor, and an install script that chooses: that one is not run.
export function bunPath() {
  const hasAvx2 = / avx2 /.test(readFileSync('/proc/cpuinfo', 'utf8'));
  const names = { x64: hasAvx2 ? 'bun-linux-x64' : 'bun-linux-x64-baseline', arm64: 'bun-linux-aarch64' };
  const own = `@oven/${names[process.arch]}`;
  const directory = join(root, 'build', 'bun');
  const bun = join(directory, 'node_modules', own, 'bin', 'bun');
  if (existsSync(bun)) return bun;
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'package.json'), '{}\n');
  const beside = join(dirname(process.execPath), '../lib/node_modules/npm/bin/npm-cli.js');
  const npm = existsSync(beside) ? [process.execPath, beside] : ['npm'];
  const config = ['/usr/local/etc/npmrc', '/usr/etc/npmrc', '/etc/npmrc'].find((path) => existsSync(path));
  const bundle = '/etc/ssl/certs/ca-certificates.crt';
  const env = { ...(config && { npm_config_globalconfig: config }), ...(existsSync(bundle) && { NODE_EXTRA_CA_CERTS: bundle }), ...process.env };
  const flags = ['install', '--ignore-scripts', '--no-audit', '--no-fund', 'bun@latest', `${own}@latest`];
  spawnSync(npm[0], [...npm.slice(1), ...flags], { cwd: directory, env, stdio: 'ignore', timeout: 300_000 });
  return existsSync(bun) ? bun : undefined;
}
