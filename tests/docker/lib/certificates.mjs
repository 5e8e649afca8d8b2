// An authority of its own, and certificates of it for an engine at 127.0.0.1 and for its client: server.pem, server-key.pem,
// and what clients look for in DOCKER_CERT_PATH: ca.pem, cert.pem, key.pem.
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export function makeCertificates(directory) {
  mkdirSync(directory, { recursive: true });
  const openssl = (...words) => execFileSync('openssl', words, { cwd: directory, stdio: ['ignore', 'ignore', 'pipe'] });
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
  openssl(...request, '-subj', '/CN=belljar tests', '-keyout', 'ca-key.pem', '-out', 'ca.pem');
  const issued = (name, key, out, usage) => openssl(...request, '-subj', `/CN=${name}`, '-CA', 'ca.pem', '-CAkey', 'ca-key.pem', '-keyout', key, '-out', out,
    '-addext', 'basicConstraints=critical,CA:FALSE', '-addext', `extendedKeyUsage=${usage}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost');
  issued('engine', 'server-key.pem', 'server.pem', 'serverAuth');
  issued('client', 'key.pem', 'cert.pem', 'clientAuth');
}
