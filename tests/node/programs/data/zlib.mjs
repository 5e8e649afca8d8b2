// Compression there and back, in every way.
// host: yes
import { pipeline } from 'node:stream/promises';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
const text = 'some text, some text, '.repeat(1000);
console.log(
  zlib.deflateSync(text).toString('hex').slice(0, 40),
  zlib.crc32?.(text),
  zlib.brotliDecompressSync(zlib.brotliCompressSync(text)).length,
);
for (const name of ['gzip', 'deflate', 'deflateRaw', 'brotliCompress', 'zstdCompress'])
  if (zlib[name]) console.log(name, (await promisify(zlib[name])(text)).length);
let length = 0;
await pipeline(Readable.from([text, text]), zlib.createGzip({ level: 9 }), zlib.createGunzip(), async (source) => {
  for await (const chunk of source) length += chunk.length;
});
console.log(length);
try {
  zlib.gunzipSync(Buffer.from('nonsense'));
} catch (error) {
  console.log(error.code, error.message);
}
