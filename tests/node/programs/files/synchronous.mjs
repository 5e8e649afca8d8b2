// Files synchronously, with links, times and rights.
import fs from 'node:fs';
fs.writeFileSync('file', 'content', { mode: 0o640 });
fs.symlinkSync('file', 'link');
fs.linkSync('file', 'hard');
fs.utimesSync('file', 1000, 2000);
const stat = fs.statSync('file');
console.log(
  stat.mode.toString(8),
  stat.nlink,
  stat.mtimeMs,
  stat.uid,
  stat.gid,
  fs.lstatSync('link').isSymbolicLink(),
  fs.readlinkSync('link'),
  fs.realpathSync('link'),
  fs.realpathSync.native('link'),
);
fs.chmodSync('file', 0o600);
fs.truncateSync('file', 3);
console.log(
  fs.readFileSync('link', 'latin1'),
  fs.existsSync('missing'),
  fs.statSync('missing', { throwIfNoEntry: false }),
  fs.accessSync('file', fs.constants.R_OK),
);
fs.symlinkSync('dangling-target', 'dangling');
fs.symlinkSync('loop', 'loop');
for (const path of ['dangling', 'loop'])
  try {
    fs.readFileSync(path);
  } catch (error) {
    console.log(error.message);
  }
const directory = fs.opendirSync('.');
const names = [];
for (let entry; (entry = directory.readSync());) names.push(entry.name);
directory.closeSync();
console.log(names.sort(), fs.mkdtempSync('/tmp/x-').length);
