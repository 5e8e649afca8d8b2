// A child writes to the same outputs, in order with the parent.
// stderr: yes
import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
console.log('1 parent');
spawnSync('sh', ['-c', 'echo 2 child; echo to stderr >&2'], { stdio: 'inherit' });
console.log('3 parent');
spawnSync('sh', ['-c', 'echo 4 swapped'], { stdio: ['ignore', 2, 1] });
spawnSync('sh', ['-c', 'echo in a file'], { stdio: ['ignore', openSync('out.txt', 'w'), 'ignore'] });
console.log(spawnSync('cat', ['out.txt'], { encoding: 'utf8' }).stdout);
