// A child with the permission model is held to it.
import { spawnSync } from 'node:child_process';
const code =
  "try { require('node:fs').readFileSync('/etc/passwd') } catch (e) { console.log(e.code, e.permission, process.permission.has('fs.read')) }";
const options = process.allowedNodeEnvironmentFlags.has('--permission') ? ['--permission'] : ['--experimental-permission', '--no-warnings'];
const { status, stdout } = spawnSync(process.execPath, [...options, '-e', code], { encoding: 'utf8' });
console.log(status, stdout);
