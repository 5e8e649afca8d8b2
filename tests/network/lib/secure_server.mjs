// HTTPS servers that remember all that reaches them, to the byte: what a proxy on the way did to a request is seen here.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import { pipeline } from 'node:stream/promises';

const kept = 128 << 10; // bytes of what a client sent on one connection

export const plain = (address) => address?.replace(/^::ffff:(?=\d+\.)/, '');

export function* parts(size) {
  const part = Buffer.alloc(2 ** 20, 'x');
  for (let left = size; left > 0; left -= part.length) yield left < part.length ? part.subarray(0, left) : part;
}

const pairs = (list) => Array.from({ length: list.length / 2 }, (_, n) => [list[2 * n], list[2 * n + 1]]);

// The text of a WebSocket frame of a client, as long as it is short, and a frame of a server with it.
function echoFrame(frame) {
  const length = frame[1] & 0x7f;
  const mask = frame.subarray(2, 6);
  const text = Buffer.from(frame.subarray(6, 6 + length).map((byte, n) => byte ^ mask[n % 4]));
  return Buffer.concat([Buffer.from([frame[0], length]), text]);
}

export class SecureServers {
  // [{ to, port, from, serverName, protocol, version, text, open, requests }] in the order of their handshakes; `text` is all
  // that was said, without TLS. A request is { method, target, version, headers, body, size, sum, trailers, complete };
  // headers and trailers are [name, value] as they came.
  connections = [];
  #entries = new WeakMap(); // socket → its entry
  #streams = new Set(); // answers of /events

  // `options` are those of https.createServer.
  async listen(address, port, options) {
    // Whoever wants nothing but HTTP/2 is told that it can be had, though nobody speaks it here.
    const ALPNCallback = ({ protocols }) => (protocols.includes('http/1.1') ? 'http/1.1' : protocols[0]);
    const server = https.createServer({ maxHeaderSize: 256 << 10, ALPNCallback, ...options });
    server.on('secureConnection', (socket) => this.#remember(socket));
    server.on('request', (request, response) => this.#serve(request, response).catch(() => response.destroy()));
    server.on('upgrade', (request, socket) => this.#upgrade(request, socket));
    server.on('clientError', (_, socket) => socket.destroy());
    server.listen({ host: address, port, reusePort: true });
    await once(server, 'listening');
  }

  reset() {
    this.connections = [];
  }

  #remember(socket) {
    const entry = {
      to: plain(socket.localAddress), port: socket.localPort, from: plain(socket.remoteAddress), serverName: socket.servername || '',
      protocol: socket.alpnProtocol || '', version: socket.getProtocol(), text: '', open: true, requests: [],
    };
    this.connections.push(entry);
    this.#entries.set(socket, entry);
    socket.on('close', () => (entry.open = false));
    socket.on('error', () => {}); // clients go as they please
    socket.on('data', (bytes) => {
      if (entry.text.length < kept) entry.text += bytes.toString('latin1', 0, kept);
    });
  }

  #note(request) {
    const { method, url: target, httpVersion: version } = request;
    const noted = { method, target, version, headers: pairs(request.rawHeaders), body: '', size: 0, sum: '', trailers: [], complete: false };
    this.#entries.get(request.socket).requests.push(noted);
    return noted;
  }

  async #serve(request, response) {
    const noted = this.#note(request);
    const hash = createHash('sha256');
    for await (const bytes of request) {
      if (noted.size < kept) noted.body += bytes.toString('latin1');
      noted.size += bytes.length;
      hash.update(bytes);
    }
    Object.assign(noted, { sum: hash.digest('hex'), trailers: pairs(request.rawTrailers), complete: request.complete });
    await this.#answer(request, response, noted);
  }

  async #answer({ method, url }, response, { sum }) {
    const [, what, detail] = url.split('/');
    if (what === 'bytes') await pipeline(parts(Number(detail)), response);
    else if (what === 'sized') await pipeline(parts(Number(detail)), response.writeHead(200, { 'content-length': detail }));
    else if (what === 'sum') response.end(sum);
    else if (what === 'status') response.writeHead(Number(detail)).end();
    else if (what === 'events') this.#streams.add(response.writeHead(200, { 'content-type': 'text/event-stream' })) && response.write('data: first\n\n');
    else if (what === 'event') this.#publish(detail) ?? response.end('published');
    else {
      const text = `${method} ${url} was answered`;
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': text.length, 'X-Odd-Case': 'as  it is' }).end(method === 'HEAD' ? '' : text);
    }
  }

  // One more event for everybody who listens, or the end of them all.
  #publish(text) {
    for (const stream of this.#streams) text === 'last' ? stream.end() : stream.write(`data: ${text}\n\n`);
    if (text === 'last') this.#streams.clear();
  }

  // /socket is a WebSocket that says what it hears; elsewhere a request to change the protocol is answered as if there
  // were none, and what follows is remembered, and is the end.
  #upgrade(request, socket) {
    Object.assign(this.#note(request), { complete: true });
    if (request.url !== '/socket' || request.headers.upgrade.toLowerCase() !== 'websocket') {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nno upgrade');
      socket.once('data', () => socket.end());
      return;
    }
    const accept = createHash('sha1').update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
    socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    socket.on('data', (frame) => socket.write(echoFrame(frame)));
  }
}
