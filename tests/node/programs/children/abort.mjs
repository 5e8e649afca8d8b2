// A child ends by an AbortSignal, and by the end of its time.
import { execFile, spawn } from 'node:child_process';
const seen = []; // in whichever order
const controller = new AbortController();
const child = spawn('sleep', ['10'], { signal: controller.signal });
child.on('error', ({ name, code }) => seen.push([name, code]));
child.on('exit', (...values) => seen.push(values));
child.on('spawn', () => controller.abort());
execFile('sleep', ['10'], { signal: AbortSignal.abort() }, (error) => seen.push([error.code]));
process.on('exit', () => console.log(seen.map(String).sort()));
