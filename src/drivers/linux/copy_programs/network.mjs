// A server, and requests to it by fetch and by http; sockets, names, an address where nobody listens.
import dns from 'node:dns/promises';
import http from 'node:http';
import net from 'node:net';
import { once } from 'node:events';
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  response.setHeader('content-type', 'application/json').end(JSON.stringify([request.method, request.url, body.length]));
});
await once(server.listen(0, '127.0.0.1'), 'listening');
const { port } = server.address();
const answers = Array.from({ length: 8 }, (_, i) => fetch(`http://127.0.0.1:${port}/${i}`, { method: 'POST', body: 'x'.repeat(i * 10_000) }));
console.log(await Promise.all(answers.map(async (answer) => (await answer).json())));
const [response] = await once(http.get({ port, host: '127.0.0.1', agent: false }), 'response');
console.log(response.statusCode, (await response.toArray()).join(''));
server.closeAllConnections();
await new Promise((resolve) => server.close(resolve));
const [error] = await once(net.connect(port, '127.0.0.1'), 'error');
console.log(error.code, await dns.lookup('localhost', { family: 4 }));
