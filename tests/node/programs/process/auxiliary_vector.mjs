// What the kernel told the program when it started, but for addresses and random bytes.
import { readFileSync } from 'node:fs';
const vector = readFileSync('/proc/self/auxv');
const plain = new Set([4, 5, 6, 8, 11, 12, 13, 14, 16, 17, 23, 26]);
for (let at = 0; at < vector.length; at += 16) {
  const type = Number(vector.readBigUInt64LE(at));
  console.log(type, plain.has(type) ? vector.readBigUInt64LE(at + 8) : '');
}
