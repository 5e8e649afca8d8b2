// Values that no two programs may share. Each line of two copies must differ.
import crypto from 'node:crypto';
import { mkdtempSync } from 'node:fs';
console.log(Math.random());
console.log(crypto.randomUUID());
console.log(crypto.randomInt(2 ** 47));
console.log(crypto.randomBytes(16).toString('hex'));
console.log(crypto.getRandomValues(new BigUint64Array(2)).join());
console.log(crypto.generateKeySync('hmac', { length: 128 }).export().toString('hex'));
console.log(mkdtempSync('/tmp/random-'));
