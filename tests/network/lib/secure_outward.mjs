// More for programs in sandboxes and on the lab's host, after outward.mjs: ways to speak TLS and HTTP as they come, byte by byte.
import https from 'node:https';
import { Duplex } from 'node:stream';
import tls from 'node:tls';

// A conversation over a socket of any kind. Texts are bytes, one per character.
class Talk {
  heard = '';
  error = undefined; // the code of it
  #socket;
  #over = false;
  #waiting = [];

  constructor(socket) {
    this.#socket = socket;
    socket.setTimeout?.(patience, () => socket.destroy(Object.assign(new Error(), { code: 'timeout' })));
    socket.on('data', (bytes) => {
      this.heard += bytes.toString('latin1');
      this.#wake();
    });
    socket.on('error', (error) => (this.error ??= codeOf(error)));
    // TLS over a stream of ours tells the end, and never that it has closed.
    for (const event of ['end', 'close']) {
      socket.on(event, () => {
        this.#over = true;
        this.#wake();
      });
    }
  }

  #wake() {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  say(text) {
    this.#socket.write(Buffer.from(text, 'latin1'));
    return this;
  }

  // One byte at a time: over TLS each has a record of its own.
  async spell(text) {
    for (const letter of text) await new Promise((resolve) => this.#socket.write(Buffer.from(letter, 'latin1'), resolve));
    return this;
  }

  // What was heard when it first matched, or at the end of the conversation.
  async until(pattern) {
    while (!this.#over && !pattern.test(this.heard)) await new Promise((resolve) => this.#waiting.push(resolve));
    return this.heard;
  }

  // Everything until the other side ends, or the code of the error if there was nothing.
  async all() {
    await this.until(/(?!)/);
    return this.heard || this.error || '';
  }

  leave() {
    this.#socket.destroy();
    return this;
  }
}

// A TLS connection to a host, or over the socket in the options: a Talk with what its handshake has shown: { issuer, authorized,
// protocol }. Who the other side is the caller judges. Rejects, with its code as message, when there is no handshake.
const secure = (host, options = {}) =>
  new Promise((resolve, reject) => {
    const socket = tls.connect({ host, port: 443, servername: net.isIP(host) ? '' : host, rejectUnauthorized: false, ...options });
    const talk = new Talk(socket);
    socket.on('secureConnect', () => resolve(Object.assign(talk, { issuer: socket.getPeerCertificate().issuer?.CN, authorized: socket.authorized, protocol: socket.alpnProtocol })));
    for (const event of ['end', 'close']) socket.on(event, () => reject(new Error(talk.error ?? 'closed')));
  });

// Says `text` to a host and listens to the end: what was heard, or the code of the error.
const tell = (text, { host = 'api.test', ...options } = {}) => secure(host, options).then((talk) => talk.say(text).all(), ({ message }) => message);

// The same for many texts at once: { name: answer } of { name: text }.
const tellAll = (texts, options) => outcomes(Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, tell(text, options)])));

// A way for TLS to a host on which its first message goes in the pieces that `cut` makes of it, each sent by itself.
async function inPieces(host, cut, port = 443) {
  const socket = net.connect({ host, port, noDelay: true });
  let first = true;
  const way = new Duplex({
    read: () => {},
    async write(bytes, _, done) {
      for (const piece of first ? cut(bytes) : [bytes]) await new Promise((resolve) => socket.write(piece, resolve));
      first = false;
      done();
    },
    final: (done) => socket.end(done),
    destroy: (error, done) => socket.destroy() && done(error),
  });
  socket.on('data', (bytes) => way.push(bytes)).on('end', () => way.push(null)).on('error', (error) => way.destroy(error));
  await new Promise((resolve) => socket.on('connect', resolve).on('close', resolve));
  return way;
}
const everyByte = (bytes) => [...bytes].map((byte) => Buffer.from([byte]));
// The message of one TLS record in several of them, and these byte by byte or all at once.
const inRecords = (size) => (bytes) => {
  const records = [];
  for (let at = 5; at < bytes.length; at += size) {
    const piece = bytes.subarray(at, at + size);
    records.push(Buffer.concat([bytes.subarray(0, 3), Buffer.from([piece.length >> 8, piece.length & 255]), piece]));
  }
  return [Buffer.concat(records)];
};

// A request as Node.js makes it: { status, headers, body } or { error }. The body is what `body` writes, or a text.
const request = (url, { body, ...options } = {}) =>
  new Promise((resolve) => {
    const sent = https.request(url, { timeout: patience, ...options }, async (response) => {
      const parts = [];
      for await (const part of response) parts.push(part);
      resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(parts).toString('latin1') });
    });
    sent.on('error', (error) => resolve({ error: codeOf(error) })).on('timeout', () => sent.destroy(Object.assign(new Error(), { code: 'timeout' })));
    if (typeof body === 'function') body(sent);
    else sent.end(body);
  });
