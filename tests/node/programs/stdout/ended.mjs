// The outputs cannot be ended, and writes after that say so.
// stderr: yes
process.stdout.on('error', (error) => console.error('error event', error.code));
process.stdout.on('finish', () => console.error('finish'));
process.stdout.write('before\n');
process.stdout.end('end\n');
process.stdout.write('after\n', (error) => console.error('callback', error?.code));
console.error(process.stdout.writableEnded, process.stdout.writable);
