// process.exit() from a timer, with work left.
// exit: 6
const { createServer } = await import('node:net');
createServer().listen(0, '127.0.0.1', () => setTimeout(() => process.exit(6), 1));
setInterval(() => {}, 1000);
