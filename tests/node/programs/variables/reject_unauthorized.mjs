// NODE_TLS_REJECT_UNAUTHORIZED warns when it is used.
// env: {"NODE_TLS_REJECT_UNAUTHORIZED": "0"}
// stderr: yes
import tls from 'node:tls';
tls.connect({ port: 9, host: '127.0.0.1' }).on('error', ({ code }) => console.log(code));
