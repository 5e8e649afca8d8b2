// Pairs of keys sign and verify, exchange and encrypt.
// host: yes
import crypto from 'node:crypto';
const { privateKey, publicKey } = crypto.generateKeyPairSync('ed25519');
const signature = crypto.sign(null, Buffer.from('text'), privateKey);
console.log(
  signature.length,
  crypto.verify(null, Buffer.from('text'), publicKey, signature),
  crypto.verify(null, Buffer.from('other'), publicKey, signature),
);
const [alice, bob] = [crypto.createECDH('prime256v1'), crypto.createECDH('prime256v1')];
alice.generateKeys();
bob.generateKeys();
console.log(alice.computeSecret(bob.getPublicKey()).equals(bob.computeSecret(alice.getPublicKey())));
const rsa = await new Promise((resolve) =>
  crypto.generateKeyPair('rsa', { modulusLength: 1024 }, (error, pub, key) => resolve({ pub, key })),
);
console.log(
  String(crypto.privateDecrypt(rsa.key, crypto.publicEncrypt(rsa.pub, Buffer.from('hidden')))),
  rsa.key.asymmetricKeyDetails,
  publicKey.export({ type: 'spki', format: 'pem' }).split('\n')[0],
);
