// What sessions do alike, whatever kernel is beneath their containers.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

// A run that is over its time ends with the children that have left it, and the session goes on.
export async function killsAWholeRun(session) {
  const hang = `import { spawn } from 'node:child_process';
    spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e3)'], { detached: true, stdio: 'ignore' }).unref();
    setInterval(() => {}, 1e3);`;
  const late = await session.call('run_js', { code: hang, timeoutMs: 1500 });
  assert.equal(late.timedOut, true, late.text);
  const left = await session.exec('for p in /proc/[0-9]*; do tr "\\0" " " < $p/cmdline; echo; done | grep -c SIG[T]ERM || true');
  assert.match(left.text, /^0$/m, 'the child of the killed program still runs');
}

// Programs of a client whose FILES_DIR is `files` read what is there, and their files are its owner's.
export async function sharesFiles(client, files) {
  writeFileSync(`${files}/given.txt`, 'given');
  const result = await client.run('import fs from "node:fs"; fs.writeFileSync("files/made.txt", fs.readFileSync("files/given.txt", "utf8") + " and made")');
  assert.ok(result.changes.some((line) => line.includes('made.txt')), result.text);
  assert.equal(readFileSync(`${files}/made.txt`, 'utf8'), 'given and made');
}
