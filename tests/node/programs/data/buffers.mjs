// Buffers and their encodings.
// host: yes
import { Buffer, Blob, File, isAscii, isUtf8, transcode, constants, kMaxLength } from 'node:buffer';
const buffer = Buffer.from('tëxt€😀');
for (const encoding of ['utf8', 'hex', 'base64', 'base64url', 'latin1', 'ucs2', 'ascii', 'binary'])
  console.log(encoding, JSON.stringify(buffer.toString(encoding)));
console.log(
  buffer,
  buffer.subarray(1, 4),
  Buffer.concat([buffer, Buffer.alloc(2)]).length,
  buffer.readInt32BE(1),
  buffer.indexOf('€'),
  Buffer.compare(buffer, Buffer.from('a')),
  buffer.equals(Buffer.from(buffer)),
);
console.log(
  isUtf8(buffer),
  isAscii(buffer),
  transcode(Buffer.from('€'), 'utf8', 'ucs2'),
  constants.MAX_LENGTH === kMaxLength,
  Buffer.poolSize,
  btoa('x'),
  atob('eA=='),
);
const blob = new Blob(['ab', new Uint8Array([99])], { type: 'text/plain' });
console.log(await blob.text(), blob.size, await blob.slice(1, 2).text(), new File(['x'], 'name.txt', { lastModified: 5 }));
try {
  Buffer.from('x').readUInt32LE(0);
} catch (error) {
  console.log(error.code, error.message);
}
