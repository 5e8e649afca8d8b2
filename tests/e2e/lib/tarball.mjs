// npm packages as bytes, made by hand so that anything can be wrong with them.
import { gzipSync } from 'node:zlib';

// One header of the ustar format.
export function header(path, { size, type = '0', link = '', mode = 0o644 }) {
  const block = Buffer.alloc(512);
  const octal = (value, length) => value.toString(8).padStart(length - 1, '0');
  block.write(path, 0, 100);
  block.write(octal(mode, 8), 100);
  block.write(octal(0, 8), 108);
  block.write(octal(0, 8), 116);
  block.write(octal(size, 12), 124);
  block.write(octal(499162500, 12), 136); // npm's own constant time
  block.write(' '.repeat(8), 148);
  block.write(type, 156);
  block.write(link, 157, 100);
  block.write('ustar\x0000', 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 7)}\0 `, 148);
  return block;
}

// A gzipped tarball of `files`: path → text, bytes, or what no npm package may have: { link: target }, a symbolic link, or
// { type, link } with a type of the tar format ('1' hard link, '3' device, '6' FIFO).
// Paths stand below "package/" unless they begin with a slash or with "..".
export function tarball(files) {
  const blocks = [];
  for (const [name, content] of Object.entries(files)) {
    const path = /^(\/|\.\.)/.test(name) ? name : `package/${name}`;
    if (typeof content === 'object' && !ArrayBuffer.isView(content)) {
      blocks.push(header(path, { size: 0, type: '2', ...content }));
      continue;
    }
    const bytes = Buffer.from(content);
    const mode = /^bin\/|\.sh$/.test(name) ? 0o755 : 0o644;
    blocks.push(header(path, { size: bytes.length, mode }), bytes, Buffer.alloc(-bytes.length & 511));
  }
  return gzipSync(Buffer.concat([...blocks, Buffer.alloc(1024)]), { level: 1 });
}
