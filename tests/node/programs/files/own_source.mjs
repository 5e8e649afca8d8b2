// The program's own file: owner, rights, content, and what else is there.
import fs from 'node:fs';
const stat = fs.statSync('index.js');
console.log(stat.mode.toString(8), stat.uid, stat.gid, stat.nlink, stat.isFile(), stat.size === fs.readFileSync('index.js').length);
console.log(
  fs.readFileSync(new URL(import.meta.url), 'utf8').split('\n')[0],
  fs.readdirSync('/workspace'),
  fs.readdirSync('/'),
  fs.readdirSync('/tmp'),
  fs.readdirSync('/home'),
  fs.readdirSync(process.env.HOME),
);
console.log(fs.statSync('.').mode.toString(8), fs.statSync('/tmp').mode.toString(8), fs.statSync('files').mode.toString(8));
fs.appendFileSync('index.js', '\n// changed while it runs\n');
fs.unlinkSync('index.js');
console.log(import.meta.url);
