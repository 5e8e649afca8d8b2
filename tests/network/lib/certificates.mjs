// Authorities and certificates for the servers of a lab, made with openssl. Keys are of elliptic curves: those take no time.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const openssl = (...args) => execFileSync('openssl', args, { stdio: ['ignore', 'pipe', 'pipe'] });
const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export class Authority {
  #directory;
  #name;

  // `name` is the one in certificates, and that of its files in `directory`.
  constructor(directory, name) {
    [this.#directory, this.#name] = [directory, name];
    openssl('req', '-x509', ...newKey, '-days', '30', '-subj', `/CN=${name}`, '-keyout', this.#path('key'), '-out', this.file);
  }

  #path(kind) {
    return join(this.#directory, `${this.#name}.${kind}`);
  }

  // Where its certificate is, for whoever is to trust it.
  get file() {
    return this.#path('pem');
  }

  get pem() {
    return readFileSync(this.file, 'utf8');
  }

  // { key, cert } of a server with these names.
  issue(names, { expired = false } = {}) {
    const [key, request, cert, extensions, database] = ['server-key', 'server-csr', 'server-pem', 'server-cnf', 'server-db'].map((kind) => this.#path(kind));
    openssl('req', '-new', ...newKey, '-subj', `/CN=${names[0]}`, '-keyout', key, '-out', request);
    const [from, to] = expired ? ['20200101000000Z', '20200201000000Z'] : ['20200101000000Z', '20491231000000Z'];
    // Only `openssl ca` takes dates, and it insists on a database.
    const config = `[ca]\ndefault_ca=own\n[own]\ndatabase=${database}\nnew_certs_dir=${this.#directory}\nrand_serial=yes\ndefault_md=sha256\npolicy=any\nunique_subject=no\n[any]\ncommonName=supplied\n[names]\nsubjectAltName=${names.map((name) => `DNS:${name}`).join()}\nextendedKeyUsage=serverAuth\n`;
    writeFileSync(extensions, config);
    writeFileSync(database, '');
    openssl('ca', '-batch', '-notext', '-config', extensions, '-extensions', 'names', '-startdate', from, '-enddate', to, '-cert', this.file, '-keyfile', this.#path('key'), '-in', request, '-out', cert);
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  }
}
