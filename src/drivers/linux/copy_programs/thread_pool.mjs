// Work for the threads of libuv, more than there are: crypto, zlib, files, names.
import crypto from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
const hash = (bytes) => crypto.createHash('sha256').update(bytes).digest('hex');
const data = Buffer.alloc(300_000, 'some text that is repeated ');
const results = await Promise.all([
  promisify(crypto.pbkdf2)('secret', 'salt', 2000, 32, 'sha512').then(hash),
  promisify(crypto.scrypt)('secret', 'salt', 32, { N: 1024 }).then(hash),
  crypto.subtle.digest('SHA-384', data).then((digest) => hash(Buffer.from(digest))),
  promisify(zlib.gzip)(data).then(promisify(zlib.gunzip)).then(hash),
  promisify(zlib.brotliCompress)(data, { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: 4 } }).then(promisify(zlib.brotliDecompress)).then(hash),
  promisify(crypto.randomBytes)(1000).then(({ length }) => length),
  promisify(crypto.generateKeyPair)('ed25519').then(({ privateKey, publicKey }) =>
    crypto.verify(null, data, publicKey, crypto.sign(null, data, privateKey)),
  ),
  readFile('package.json', 'utf8'),
]);
console.log(results);
