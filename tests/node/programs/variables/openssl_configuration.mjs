// OPENSSL_CONF and SSL_CERT_FILE that do not exist.
// env: {"SSL_CERT_FILE": "/nowhere", "SSL_CERT_DIR": "/nowhere", "OPENSSL_CONF": "/dev/null"}
import crypto from 'node:crypto';
import tls from 'node:tls';
console.log(crypto.createHash('sha256').update('x').digest('hex'), tls.rootCertificates.length > 100, process.env.OPENSSL_CONF);
