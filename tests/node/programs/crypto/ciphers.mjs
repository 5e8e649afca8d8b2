// Ciphers there and back.
// host: yes
import crypto from 'node:crypto';
const [key, iv] = [Buffer.alloc(32, 1), Buffer.alloc(12, 2)];
const cipher = crypto.createCipheriv('aes-256-gcm', key, iv);
const secret = Buffer.concat([cipher.update('secret text'), cipher.final()]);
const tag = cipher.getAuthTag();
const decipher = crypto.createDecipheriv('aes-256-gcm', key, iv).setAuthTag(tag);
console.log(secret.toString('hex'), tag.toString('hex'), decipher.update(secret, undefined, 'utf8') + decipher.final('utf8'));
const wrong = crypto.createDecipheriv('aes-256-gcm', key, iv).setAuthTag(Buffer.alloc(16));
wrong.update(secret);
try {
  wrong.final();
} catch (error) {
  console.log(error.message);
}
