// Bytes that are no text, cut characters, and zeros.
import { writeSync } from 'node:fs';
writeSync(1, Buffer.from([0x41, 0xff, 0xfe, 0xc3, 0x28, 0x00, 0xe2, 0x82, 0x0a]));
process.stdout.write(Buffer.from('€').subarray(0, 2));
process.stdout.write(Buffer.from('€').subarray(2));
process.stdout.write('a\u0000b\ud800c\r\n\u2028\u001b[31mred\u001b[0m', 'utf8');
process.stdout.write('ÿ', 'latin1');
