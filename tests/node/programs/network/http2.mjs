// HTTP/2 without encryption.
import http2 from 'node:http2';
import { once } from 'node:events';
const server = http2.createServer();
server.on('stream', (stream, headers) => {
  stream.respond({ ':status': 200, 'x-path': headers[':path'] });
  stream.end('h2 answer');
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const client = http2.connect(`http://127.0.0.1:${server.address().port}`);
const request = client.request({ ':path': '/p' });
const [headers] = await once(request, 'response');
let text = '';
for await (const chunk of request) text += chunk;
console.log(headers[':status'], headers['x-path'], text);
client.close();
server.close(() => console.log('closed'));
