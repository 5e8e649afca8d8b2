// Hashes and codes of known texts.
// host: yes
import crypto from 'node:crypto';
for (const name of ['md5', 'sha1', 'sha256', 'sha512', 'sha3-256', 'blake2b512'])
  console.log(name, crypto.createHash(name).update('text').update('€').digest('hex'));
console.log(
  crypto.createHmac('sha256', 'key').update('text').digest('base64'),
  crypto.hash?.('sha1', 'x'),
  crypto.getHashes().length,
  crypto.getCiphers().length,
  crypto.getCurves().length,
);
console.log(crypto.timingSafeEqual(Buffer.from('ab'), Buffer.from('ab')), crypto.getFips());
try {
  crypto.createHash('no-such');
} catch (error) {
  console.log(error.code, error.message);
}
