// Input goes on to output and to a child.
// stdin: "to the output\n"
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
const child = spawn('cat', { stdio: ['inherit', 'pipe', 'inherit'] });
child.stdout.on('data', (data) => console.log('cat:', String(data)));
await new Promise((resolve) => child.on('close', resolve));
console.log(readFileSync(0).length);
await pipeline(process.stdin, process.stdout);
