// Files by promises.
import fs from 'node:fs/promises';
await fs.mkdir('a/b/c', { recursive: true });
await fs.writeFile('a/one.txt', 'one');
await fs.appendFile('a/one.txt', ' two');
console.log(
  await fs.readFile('a/one.txt', 'utf8'),
  (await fs.stat('a/one.txt')).size,
  await fs.readdir('a'),
  await fs
    .readdir('a', { recursive: true, withFileTypes: true })
    .then((all) => all.map((entry) => [entry.name, entry.isDirectory(), entry.parentPath])),
);
await fs.rename('a/one.txt', 'a/b/moved');
await fs.copyFile('a/b/moved', 'a/copy');
await fs.cp('a', 'z', { recursive: true });
await fs.rm('a', { recursive: true });
for (const attempt of [
  () => fs.readFile('a/x'),
  () => fs.mkdir('z'),
  () => fs.rmdir('z'),
  () => fs.readFile('z'),
  () => fs.open('/etc/passwd', 'w'),
  () => fs.writeFile('/proc/x', ''),
])
  await attempt().catch(({ code, syscall, message }) => console.log(code, syscall, message));
const file = await fs.open('z/copy', 'r+');
await file.write('X', 1);
console.log((await file.read({ buffer: Buffer.alloc(20) })).bytesRead, await file.readFile('utf8'), file.fd > 2);
for await (const line of (await fs.open('z/copy')).readLines()) console.log(line);
await file.close();
console.log(await Array.fromAsync(fs.glob('z/**')).then((all) => all.sort()));
