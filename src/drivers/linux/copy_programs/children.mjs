// Other programs: output, input, exit status, signals, a Node.js with a channel, one that does not exist.
import { execFile, fork, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
const { status, stdout, stderr } = spawnSync('sh', ['-c', 'read line; echo "$line"; echo bad >&2; exit 4'], { input: 'said\n', encoding: 'utf8' });
console.log(status, stdout, stderr);
console.log(await promisify(execFile)(process.execPath, ['-p', '[process.argv.length, process.ppid > 1, process.execArgv]']));
const sleeping = spawn('sleep', ['60']);
sleeping.kill('SIGTERM');
console.log(await once(sleeping, 'exit'));
writeFileSync('child.mjs', "process.on('message', (text) => process.send(text.toUpperCase(), () => process.disconnect()));");
const child = fork('./child.mjs');
child.send('over the channel');
console.log((await once(child, 'message'))[0], await once(child, 'exit'));
await promisify(execFile)('no-such-program').catch(({ code, syscall }) => console.log(code, syscall));
