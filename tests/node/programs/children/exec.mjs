// exec and execFile, with callbacks, promises, limits and failures.
import { exec, execFile } from 'node:child_process';
import { promisify } from 'node:util';
const run = promisify(exec);
console.log(await run('echo one; echo two >&2'));
const attempts = [
  () => run('exit 4'),
  () => run('yes', { maxBuffer: 100 }),
  () => run('sleep 10', { timeout: 20 }),
  () => promisify(execFile)('no-such-program', ['x']),
  () => run('no-such-command'),
];
for (const attempt of attempts) {
  await attempt().catch(({ code, killed, signal, cmd, stdout, stderr, message }) =>
    console.log({ code, killed, signal, cmd, length: stdout?.length > 0, stderr, message }),
  );
}
