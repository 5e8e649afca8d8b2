// What a rejection that nobody handles does in each mode.
import { spawnSync } from 'node:child_process';
for (const mode of ['strict', 'warn', 'none', 'throw', 'warn-with-error-codes']) {
  const code = "Promise.reject(new Error('no')); setTimeout(() => console.log('goes on'), 1)";
  const { status, stdout, stderr } = spawnSync(process.execPath, [`--unhandled-rejections=${mode}`, '-e', code], { encoding: 'utf8' });
  console.log(mode, status, stdout, stderr.replace(/\(node:\d+\)/g, '(node:PID)'));
}
