// The crypto of browsers.
// host: yes
const { subtle } = globalThis.crypto;
const data = new TextEncoder().encode('text');
console.log(Buffer.from(await subtle.digest('SHA-256', data)).toString('hex'));
const hmac = await subtle.importKey('raw', data, { name: 'HMAC', hash: 'SHA-1' }, true, ['sign', 'verify']);
const signed = await subtle.sign('HMAC', hmac, data);
console.log(Buffer.from(signed).toString('hex'), await subtle.verify('HMAC', hmac, signed, data), hmac.algorithm, hmac.usages);
const pair = await subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
console.log(
  await subtle.verify(
    { name: 'ECDSA', hash: 'SHA-256' },
    pair.publicKey,
    await subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, pair.privateKey, data),
    data,
  ),
  Object.keys(await subtle.exportKey('jwk', pair.publicKey)).sort(),
);
await subtle.decrypt({ name: 'AES-GCM', iv: data }, hmac, data).catch((error) => console.log(error.name, error.message));
