// A child takes NODE_OPTIONS from the environment that it is given.
import { spawnSync } from 'node:child_process';
const node = (env, ...args) => spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: 'utf8' });
console.log(node({ NODE_OPTIONS: '--stack-trace-limit=1 --no-warnings' }, '-p', '[Error.stackTraceLimit, process.execArgv]').stdout);
const refused = node({ NODE_OPTIONS: '--eval' }, '-p', '1');
console.log(refused.status, refused.stderr);
console.log(node({}, '--no-such-option').stderr, node({}, '--version').stdout, node({}, 'missing.js').status);
