// A change of a file is noticed.
import fs from 'node:fs';
fs.writeFileSync('watched', '1');
const watcher = fs.watch('watched', (type, name) => {
  console.log(type, name);
  watcher.close();
});
watcher.on('close', () => console.log('closed'));
fs.writeFileSync('watched', '2');
