// Without a "type" Node.js finds out by the syntax what a file is; package.json is not that of the sandbox.
// stderr: yes
import fs from 'node:fs';
console.log(import.meta.url, fs.readFileSync('package.json', 'utf8'));
const { default: other } = await import('./other.js');
console.log(other);
