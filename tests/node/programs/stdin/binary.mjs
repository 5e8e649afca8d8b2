// Bytes of every kind that JSON can carry.
// stdin: "\u0000\u0001\u007f\r\n\t\u001b[0m é"
import { createHash } from 'node:crypto';
const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
console.log(Buffer.concat(chunks).toString('hex'), createHash('sha256').update(Buffer.concat(chunks)).digest('hex'));
