// What parents learn of children that signals ended, and of zombies.
import { spawn } from 'node:child_process';
for (const signal of ['SIGTERM', 'SIGKILL', 'SIGUSR2', 'SIGSEGV']) {
  const child = spawn('sleep', ['100']);
  console.log(
    child.kill(signal),
    await new Promise((resolve) => child.on('exit', (...values) => resolve(values))),
    child.killed,
    child.signalCode,
    child.exitCode,
  );
}
