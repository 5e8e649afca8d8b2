// Keys from passwords, in the thread pool and synchronously.
// host: yes
import crypto from 'node:crypto';
import { promisify } from 'node:util';
console.log(
  crypto.pbkdf2Sync('p', 's', 1000, 16, 'sha256').toString('hex'),
  crypto.scryptSync('p', 's', 16, { N: 1024 }).toString('hex'),
  Buffer.from(crypto.hkdfSync('sha256', 'k', 's', 'i', 8)).toString('hex'),
);
const all = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => promisify(crypto.pbkdf2)(`p${n}`, 's', 1000, 4, 'sha1')));
console.log(
  all.map((key) => key.toString('hex')),
  (await promisify(crypto.scrypt)('p', 's', 8)).toString('hex'),
);
