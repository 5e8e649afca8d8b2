// A large body there and back, in chunks and compressed.
import http from 'node:http';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import zlib from 'node:zlib';
const server = http.createServer((request, response) => {
  response.setHeader('content-encoding', 'gzip');
  request.pipe(zlib.createGzip()).pipe(response);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const body = Buffer.alloc(3 << 20, 'abcdefg');
const answer = await fetch(`http://127.0.0.1:${server.address().port}/`, { method: 'POST', body });
const back = Buffer.from(await answer.arrayBuffer());
console.log(back.length, createHash('sha256').update(back).digest('hex') === createHash('sha256').update(body).digest('hex'));
server.close();
server.closeAllConnections();
