// What fetch says when nobody answers.
import net from 'node:net';
for (const url of ['http://127.0.0.1:9/', 'http://no-such-host.invalid/', 'http://[::1]:9/', 'nonsense', 'ftp://127.0.0.1/']) {
  await fetch(url).catch((error) => console.log(url, error.name, error.message, error.cause?.code, error.cause?.syscall));
}
const server = net
  .createServer((socket) => socket.destroy())
  .listen(0, '127.0.0.1', async () => {
    await fetch(`http://127.0.0.1:${server.address().port}/`).catch((error) =>
      console.log(error.message, error.cause?.code, error.cause?.name),
    );
    await fetch(`http://127.0.0.1:${server.address().port}/`, { signal: AbortSignal.abort() }).catch((error) => console.log(error.name));
    server.close();
  });
