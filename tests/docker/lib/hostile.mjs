// What an engine may meet, and what may stand in an engine's place, on this host only.
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { text } from 'node:stream/consumers';

const digestOf = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
// Enough for Docker to tell of it, and then as little as makes Podman tell of it.
function drip(answer) {
  answer.write(Buffer.alloc(2 << 20));
  const drops = setInterval(() => answer.write(Buffer.alloc(1 << 10)), 100);
  answer.on('close', () => clearInterval(drops));
}

const manifestType = 'application/vnd.docker.distribution.manifest.v2+json';

// A registry with one image under every name, of so many layers (`count`), all of them empty archives, or of one that never
// comes to its end after `size` bytes. What it was asked for is in `asked`.
export class HostileRegistry {
  asked = [];

  constructor({ count = 1, size }) {
    const contents = size ? [Buffer.from('without end')] : Array.from({ length: count }, (_, i) => Buffer.alloc(1024 + 512 * i));
    const blobs = new Map(contents.map((bytes) => [digestOf(bytes), bytes]));
    const config = JSON.stringify({ architecture: 'amd64', os: 'linux', config: {}, rootfs: { type: 'layers', diff_ids: [...blobs.keys()] } });
    const layers = [...blobs].map(([digest, bytes]) => ({ mediaType: 'application/vnd.docker.image.rootfs.diff.tar.gzip', size: size ?? bytes.length, digest }));
    const manifest = JSON.stringify({ schemaVersion: 2, mediaType: manifestType, config: { mediaType: 'application/vnd.docker.container.image.v1+json', size: config.length, digest: digestOf(config) }, layers });
    this.server = createServer((question, answer) => {
      this.asked.push(question.url);
      if (question.url === '/v2/') answer.end('{}');
      else if (question.url.includes('/manifests/')) answer.writeHead(200, { 'Content-Type': manifestType, 'Content-Length': manifest.length, 'Docker-Content-Digest': digestOf(manifest) }).end(question.method === 'HEAD' ? '' : manifest);
      else if (question.url.endsWith(digestOf(config))) answer.end(config);
      else if (!size) answer.end(blobs.get(question.url.split('/').at(-1)));
      else drip(answer.writeHead(200, { 'Content-Length': size }));
    });
  }

  start() {
    return new Promise((resolve) => this.server.listen(0, '127.0.0.1', () => {
      this.address = `127.0.0.1:${this.server.address().port}`;
      resolve(this);
    }));
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
  }
}

// Passes on to the engine at `socket` what comes to `path`. `version` may change what it says of itself, an object;
// the bodies with which containers were made are in `created`.
export class EngineInBetween {
  created = [];

  constructor(socket, path, version = (said) => said) {
    this.path = path;
    this.server = createServer(async (question, answer) => {
      const { method, url, headers } = question;
      const body = await text(question);
      if (url.includes('/containers/create')) this.created.push(JSON.parse(body));
      const onward = request({ socketPath: socket, method, path: url, headers }, async (reply) => {
        if (url !== '/version') {
          answer.writeHead(reply.statusCode, reply.headers);
          reply.pipe(answer);
          return;
        }
        answer.end(JSON.stringify(version(JSON.parse(await text(reply)))));
      });
      onward.on('error', () => answer.destroy());
      onward.end(body);
    });
  }

  start() {
    return new Promise((resolve) => this.server.listen(this.path, () => resolve(this)));
  }

  stop() {
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.path, { force: true });
  }
}

// A version of an engine whose runtime is runc, of that version. Podman's may be another one.
export const withRunc = (runc) => (said) => ({ ...said, Components: said.Components.map((part) => (/^(runc|OCI Runtime .*)$/.test(part.Name) ? { ...part, Name: part.Name.replace(/\(.*\)/, '(runc)'), Version: runc } : part)) });
