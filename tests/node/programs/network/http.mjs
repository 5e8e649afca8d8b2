// A server and requests to it, by http and by fetch.
import http from 'node:http';
const server = http.createServer({ keepAliveTimeout: 100 }, async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  response.writeHead(request.url === '/missing' ? 404 : 200, { 'content-type': 'application/json', 'x-own': 'ü'.codePointAt(0) });
  response.end(
    JSON.stringify({
      method: request.method,
      url: request.url,
      body,
      agent: request.headers['user-agent'],
      length: request.headers['content-length'],
    }),
  );
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}`;
const answer = await fetch(`${base}/path?q=1`, { method: 'POST', body: 'text €' });
console.log(answer.status, answer.headers.get('x-own'), await answer.json());
console.log((await fetch(`${base}/missing`)).status);
const { statusCode, headers } = await new Promise((resolve) =>
  http.get(`${base}/get`, { agent: false }, (response) => response.resume().on('end', () => resolve(response))),
);
console.log(statusCode, headers['content-type'], Object.keys(headers).sort());
server.close(() => console.log('closed'));
server.closeAllConnections();
