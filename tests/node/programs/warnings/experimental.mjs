// The warning of something experimental, if there is any in this version.
// stderr: yes
import v8 from 'node:v8';
import { writeFileSync } from 'node:fs';
writeFileSync('x.wasm', Buffer.from('0061736d01000000', 'hex'));
process.on('warning', ({ name }) => console.log(name));
console.log(typeof v8.startupSnapshot, { ...(await import('./x.wasm').catch(({ code }) => ({ code }))) });
process.emitWarning('one of our own', 'ExperimentalWarning');
