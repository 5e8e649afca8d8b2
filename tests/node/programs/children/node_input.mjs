// Node.js that reads its program from the input, and checks one.
import { execFileSync, spawnSync } from 'node:child_process';
console.log(execFileSync(process.execPath, ['-'], { input: 'console.log("from input", __filename)', encoding: 'utf8' }));
console.log(execFileSync(process.execPath, ['--input-type=module'], { input: 'console.log(import.meta.url)', encoding: 'utf8' }));
console.log(spawnSync(process.execPath, ['--check', 'index.js']).status, spawnSync(process.execPath, ['-e', 'syntax error']).status);
