// A server with a certificate of its own making is refused unless it is trusted. The key was made for this program.
import https from 'node:https';
import { readFileSync } from 'node:fs';
import tls from 'node:tls';
console.log(tls.rootCertificates.length > 100, tls.DEFAULT_MIN_VERSION, tls.DEFAULT_MAX_VERSION, tls.getCiphers().length);
const [key, cert] = [readFileSync('key.pem'), readFileSync('cert.pem')];
const server = https.createServer({ key, cert }, (request, response) => response.end(request.socket.getProtocol()));
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const { port } = server.address();
for (const [servername, ca] of [['localhost'], ['localhost', cert], ['elsewhere', cert]]) {
  await new Promise((resolve) => {
    const request = https.get({ port, host: '127.0.0.1', servername, ca, agent: false }, (response) => {
      response.on('data', (data) => console.log(String(data), response.socket.authorized)).on('end', resolve);
    });
    request.on('error', (error) => resolve(console.log(error.code, error.message)));
  });
}
server.close(() => console.log('closed'));
