// The start that Node.js knows is that of this process, as the kernel has it, not of somebody before it.
import { readFileSync } from 'node:fs';
const started = Number(readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')[19]) / 100;
const age = Number(process.hrtime.bigint()) / 1e9 - started;
console.log(age > -0.1, age < 10, Math.abs(age - process.uptime()) < 1.5, Math.abs(age * 1000 - performance.now()) < 1500);
