// A registry in the test itself, for what a real one never serves: tarballs that are not what they are said to be, answers that
// do not come, and a record of who asked for what.
//
//   const registry = await startTinyRegistry(t, [{ name: 'a', version: '1.0.0', files: { 'index.js': '…' } }]);
//   registry.url                       // "http://127.0.0.1:PORT/"; env: { npm_config_registry: registry.url }
//   registry.requests                  // [{ method, url, headers }], in order
//   registry.answer = (request, response) => …   // true if it has answered, or never will
//   await registry.asked('.tgz')       // resolves with the first request, past or future, whose address has that
//
// A package: { name, version, manifest, files, bytes, dist }. `bytes` is the tarball instead of one made of `files`; `dist`
// replaces what the document says about it.
import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';

import { tarball } from './tarball.mjs';
import { until } from './wait.mjs';

class TinyRegistry {
  requests = [];
  answer = () => false;
  documents = new Map();
  tarballs = new Map();

  constructor(server) {
    this.server = server;
    this.url = `http://127.0.0.1:${server.address().port}/`;
    server.on('request', (request, response) => this.#serve(request, response));
  }

  add({ name, version = '1.0.0', manifest = {}, files = {}, bytes, dist = {} }) {
    const described = { name, version, ...manifest };
    // Different each time: what belljar has fetched once it never asks for again.
    bytes ??= tarball({ 'package.json': JSON.stringify({ ...described, madeFor: randomUUID() }), ...files });
    const path = `/${name}/-/${version}.tgz`;
    this.tarballs.set(path, bytes);
    const integrity = `sha512-${createHash('sha512').update(bytes).digest('base64')}`;
    const document = this.documents.get(`/${name}`) ?? { name, 'dist-tags': {}, versions: {} };
    document['dist-tags'].latest = version;
    document.versions[version] = { ...described, dist: { integrity, tarball: this.url + path.slice(1), ...dist } };
    this.documents.set(`/${name}`, document);
  }

  #serve(request, response) {
    const { method, url, headers } = request;
    this.requests.push({ method, url, headers });
    response.on('error', () => {}); // who asked may go away
    if (this.answer(request, response)) return;
    const path = url.replace(/%2f/i, '/');
    const document = this.documents.get(path);
    const bytes = this.tarballs.get(path);
    if (document) response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document));
    else if (bytes) response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    else response.writeHead(404).end('{}');
  }

  asked(part) {
    return until(`the registry to be asked for ${part}`, () => this.requests.find(({ url }) => url.includes(part)), 20_000);
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

// It is stopped when the test `t` ends, or by stop().
export async function startTinyRegistry(t, packages = []) {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const registry = new TinyRegistry(server);
  t?.after(() => registry.stop());
  for (const described of packages) registry.add(described);
  return registry;
}
