// Writes to the same pipe in several ways keep their order.
import { writeSync } from 'node:fs';
process.stdout.write('1 stream\n');
writeSync(1, '2 sync\n');
console.log('3 console');
writeSync(1, '4 sync\n');
process.stdout.write('5 stream\n', () => console.log('6 callback'));
process.on('exit', () => console.log('7 exit'));
