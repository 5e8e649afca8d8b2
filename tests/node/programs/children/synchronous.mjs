// Children that are waited for.
import { execFileSync, execSync, spawnSync } from 'node:child_process';
console.log(execSync('echo $0; pwd', { encoding: 'utf8' }), execFileSync('printf', ['%s', 'a b']).toString());
const { status, signal, output, error, stdout } = spawnSync('cat', { input: 'in\nput', encoding: 'utf8' });
console.log(status, signal, output, error, stdout);
console.log(
  spawnSync('sh', ['-c', 'kill -9 $$']).signal,
  spawnSync('no-such-command').error.message,
  spawnSync('sleep', ['10'], { timeout: 20 }).error.code,
);
try {
  execSync('echo out; echo err >&2; exit 3', { stdio: 'pipe' });
} catch (error) {
  console.log(error.status, String(error.stdout), String(error.stderr), error.message);
}
