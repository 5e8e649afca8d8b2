// There is no input: its end comes at once.
import { readFileSync } from 'node:fs';
console.log(
  process.stdin.isTTY,
  process.stdin.fd,
  process.stdin.constructor.name,
  process.stdin.readableFlowing,
  process.stdin.readableHighWaterMark,
);
process.stdin
  .on('data', (data) => console.log('never', data))
  .on('end', () => console.log('end'))
  .on('close', () => console.log('close'));
console.log(readFileSync(0).length);
