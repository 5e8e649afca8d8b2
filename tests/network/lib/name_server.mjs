// A DNS server that does what zone.mjs says, over UDP and TCP, and remembers every query.
import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';

import { decode, encodeAnswer, encodeName } from './dns_message.mjs';
import { zone } from './zone.mjs';

// For an address of one family: both may have the same port, and a single address may have what the wildcard has, too.
export const datagramSocket = (address) =>
  dgram.createSocket(net.isIPv6(address) ? { type: 'udp6', ipv6Only: true, reuseAddr: true } : { type: 'udp4', reuseAddr: true });

export class NameServer {
  queries = []; // [{ name, type, over, at, bytes }]: `at` is the address that was asked, `bytes` the whole message
  #turns = new Map(); // "name type" → how often it was asked for
  #held = []; // answers that wait for release()

  async listen(address) {
    const socket = datagramSocket(address);
    socket.on('message', (bytes, peer) => this.#take(bytes, 'udp', address, (answer) => socket.send(answer, peer.port, peer.address)));
    socket.bind(53, address);
    const server = net.createServer((connection) => this.#converse(connection, address)).listen(53, address);
    await Promise.all([once(socket, 'listening'), once(server, 'listening')]);
  }

  // Lets go of the answers that were held back.
  release() {
    for (const send of this.#held.splice(0)) send();
  }

  reset() {
    this.queries = [];
    this.#turns.clear();
  }

  #converse(connection, address) {
    let bytes = Buffer.alloc(0);
    connection.on('error', () => {});
    connection.on('data', (part) => {
      bytes = Buffer.concat([bytes, part]);
      while (bytes.length >= 2 && bytes.length >= 2 + bytes.readUInt16BE()) {
        const query = bytes.subarray(2, 2 + bytes.readUInt16BE());
        bytes = bytes.subarray(2 + query.length);
        this.#take(query, 'tcp', address, (answer) => connection.write(Buffer.concat([Buffer.from([answer.length >> 8, answer.length & 0xff]), answer])));
      }
    });
  }

  #take(bytes, over, at, send) {
    let query;
    try {
      query = decode(bytes);
    } catch {
      this.queries.push({ name: '', type: 'malformed', over, at, bytes: bytes.toString('latin1') });
      return;
    }
    this.queries.push({ name: query.name, type: query.type, over, at, bytes: bytes.toString('latin1') });
    const entry = zone[query.name.toLowerCase()];
    if (!entry) send(encodeAnswer(query, { code: 'NXDOMAIN' }));
    else if (entry.code) send(encodeAnswer(query, { code: entry.code }));
    else tricks[entry.trick ?? 'none']({ query, over, send, answers: this.#answers(query, entry), hold: (later) => this.#held.push(later) });
  }

  #answers(query, entry) {
    const key = `${query.name.toLowerCase()} ${query.type}`;
    const turn = this.#turns.get(key) ?? 0;
    this.#turns.set(key, turn + 1);
    const records = entry.records ?? entry.turns[Math.min(turn, entry.turns.length - 1)];
    const own = records.filter(({ type }) => type === query.type || type === 'CNAME').map((record) => ({ ttl: entry.ttl, ...record, name: query.name }));
    // As a server that looks aliases up for its clients does.
    const alias = own.find(({ type }) => type === 'CNAME');
    const target = alias && alias.data !== query.name && zone[alias.data];
    return target ? [...own, ...target.records.filter(({ type }) => type === query.type).map((record) => ({ ...record, name: alias.data }))] : own;
  }
}

const tricks = {
  none: ({ query, send, answers }) => send(encodeAnswer(query, { answers })),
  silent: () => {},
  held: ({ query, send, answers, hold }) => hold(() => send(encodeAnswer(query, { answers }))),
  truncated: ({ query, over, send, answers }) => send(encodeAnswer(query, over === 'udp' ? { truncated: true } : { answers })),
  malformed: ({ query, over, send, answers }) => {
    const whole = encodeAnswer(query, { answers });
    const pointer = Buffer.from(whole);
    pointer.writeUInt16BE(0xc000 | query.question.length + 12, 12 + query.question.length); // a name that leads to itself
    const countless = Buffer.from(whole);
    countless.writeUInt16BE(0xffff, 6);
    for (const bytes of over === 'tcp' ? [whole.subarray(0, whole.length - 3)] : [Buffer.alloc(0), whole.subarray(0, 5), whole.subarray(0, whole.length - 3), pointer, countless]) send(bytes);
  },
  'wrong id first': ({ query, send, answers }) => {
    for (let off = 1; off < 50; off += 1) send(encodeAnswer(query, { id: (query.id + off) & 0xffff, answers: elsewhere(query) }));
    send(encodeAnswer(query, { answers }));
  },
  'wrong question first': ({ query, send, answers }) => {
    const question = Buffer.concat([encodeName('other.test'), query.question.subarray(-4)]);
    send(encodeAnswer(query, { question, answers: elsewhere({ ...query, name: 'other.test' }) }));
    send(encodeAnswer(query, { answers }));
  },
  // Records that nobody asked for: they say where another name leads.
  'other records too': ({ query, send, answers }) => send(encodeAnswer(query, { answers: [...answers, ...elsewhere({ ...query, name: 'unasked.test' })] })),
};

// Where a forged answer would lead to.
const elsewhere = ({ name, type }) => (type === 'A' ? [{ name, type, data: '93.184.216.66' }] : type === 'AAAA' ? [{ name, type, data: '2606:4700::66' }] : []);
