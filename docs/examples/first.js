// The first program of ./run: what a program finds when it wakes up in a sandbox.
import os from 'node:os';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';

const mib = (bytes) => `${Math.round(bytes / 2 ** 20)} MiB`;
const refused = (error) => error.code ?? error.message;

const hostFile = await readFile('/etc/shadow', 'utf8').catch(refused);
const network = await new Promise((resolve) => {
  connect(53, '192.0.2.1').once('connect', () => resolve('connected')).once('error', (error) => resolve(refused(error)));
});

console.log(`Hello from Node.js ${process.version} in a sandbox of its own.`);
console.log(`  user       ${os.userInfo().username} (uid ${process.getuid()}) on ${os.hostname()}, pid ${process.pid}`);
console.log(`  limits     ${os.availableParallelism()} CPU, ${mib(process.constrainedMemory())} of memory`);
console.log(`  place      ${process.cwd()}, ${Object.keys(process.env).length} environment variables, none of the host's`);
console.log(`  files      /etc/shadow of the host: ${hostFile}`);
console.log(`  network    192.0.2.1: ${network}`);
