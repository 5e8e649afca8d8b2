// The version tag of compiled code is that of the flags: whoever has other flags has another.
import v8 from 'node:v8';
import { execFileSync } from 'node:child_process';
const child = (...flags) => Number(execFileSync(process.execPath, [...flags, '-p', 'v8.cachedDataVersionTag()']));
console.log(v8.cachedDataVersionTag() === child(), child() === child('--no-opt'));
