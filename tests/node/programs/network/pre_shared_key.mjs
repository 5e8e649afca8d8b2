// TLS with a key that both know.
import tls from 'node:tls';
const psk = Buffer.from('c0ffee', 'hex');
const options = { ciphers: 'PSK+HIGH', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' };
const server = tls.createServer({ ...options, pskCallback: (socket, identity) => (identity === 'me' ? psk : null) }, (socket) =>
  socket.end('secret'),
);
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address();
  const client = tls.connect({
    port,
    host: '127.0.0.1',
    ...options,
    checkServerIdentity: () => undefined,
    pskCallback: () => ({ psk, identity: 'me' }),
  });
  client.on('data', (data) => console.log(String(data), client.getProtocol(), client.getCipher().name));
  client.on('close', () => server.close());
});
