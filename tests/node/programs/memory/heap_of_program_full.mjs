// The program's own heap gets full: a report on stderr, whose numbers and addresses are taken out by a filter of the parent.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
writeFileSync('full.mjs', 'const all = []; for (;;) all.push(new Array(50_000).fill(all.length + 0.5));');
const { signal, stderr } = spawnSync(process.execPath, ['--max-old-space-size=30', 'full.mjs'], { encoding: 'utf8' });
console.log(
  signal,
  /<--- Last few GCs --->/.test(stderr),
  /heap out of memory/.test(stderr),
  /----- Native stack trace -----/.test(stderr),
);
