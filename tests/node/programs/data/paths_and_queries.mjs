// Paths, queries and old addresses.
// host: yes
import path from 'node:path';
import querystring from 'node:querystring';
import { StringDecoder } from 'node:string_decoder';
import punycode from 'node:url';
console.log(
  path.resolve('/a', '../b', './c'),
  path.relative('/a/b/c', '/a/d'),
  path.parse('/x/y.tar.gz'),
  path.win32.join('a', '..', 'b'),
  path.matchesGlob?.('/a/b', '/a/*'),
);
console.log(querystring.parse('a=1&a=2&b=%20'), querystring.stringify({ x: ['1', '2'] }), punycode.domainToUnicode('xn--espaol-zwa.com'));
const decoder = new StringDecoder('utf8');
console.log(decoder.write(Buffer.from([0xe2, 0x82])), decoder.write(Buffer.from([0xac])), decoder.end());
