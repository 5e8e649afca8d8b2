// Messages of DNS (RFC 1035), as much of them as a scripted server and a hostile client need.

export const types = { A: 1, NS: 2, CNAME: 5, PTR: 12, MX: 15, TXT: 16, AAAA: 28, OPT: 41, AXFR: 252, ANY: 255 };
export const codes = { NOERROR: 0, FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 };
const typeNames = Object.fromEntries(Object.entries(types).map(([name, number]) => [number, name]));

const two = (number) => Buffer.from([(number >> 8) & 0xff, number & 0xff]);
const four = (number) => Buffer.concat([two(number >>> 16), two(number)]);

export function encodeName(name) {
  const labels = name.split('.').filter(Boolean);
  return Buffer.concat([...labels.map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label, 'latin1')])), Buffer.from([0])]);
}

// The eight groups of an IPv6 address, or the last two of them written as IPv4, as 16 bytes.
export function ipv6Bytes(text) {
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  if (dotted) {
    const [a, b, c, d] = dotted.slice(2).map(Number);
    return ipv6Bytes(`${dotted[1]}${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`);
  }
  const [left, right] = text.split('::').map((half) => half.split(':').filter(Boolean));
  const middle = right === undefined ? [] : Array(8 - left.length - right.length).fill('0');
  return Buffer.concat([...left, ...middle, ...(right ?? [])].map((group) => two(Number.parseInt(group, 16))));
}

function encodeData(type, data) {
  if (type === 'A') return Buffer.from(data.split('.').map(Number));
  if (type === 'AAAA') return ipv6Bytes(data);
  if (type === 'TXT') return Buffer.concat([Buffer.from([data.length]), Buffer.from(data, 'latin1')]);
  if (type === 'MX') return Buffer.concat([two(10), encodeName(data)]);
  return encodeName(data); // CNAME, NS, PTR
}

const encodeRecord = ({ name, type, ttl = 60, data }) => {
  const bytes = encodeData(type, data);
  return Buffer.concat([encodeName(name), two(types[type]), two(1), four(ttl), two(bytes.length), bytes]);
};

// A query for one name: { id, name, type, class_ }.
export const encodeQuery = ({ id = 1, name, type = 'A', class_ = 1 }) =>
  Buffer.concat([two(id), two(0x0100), two(1), two(0), two(0), two(0), encodeName(name), two(types[type] ?? type), two(class_)]);

// The answer to a query that decode() has read.
export function encodeAnswer(query, { id = query.id, code = 'NOERROR', answers = [], truncated = false, question = query.question } = {}) {
  const flags = 0x8180 | (truncated ? 0x0200 : 0) | codes[code];
  return Buffer.concat([two(id), two(flags), two(1), two(answers.length), two(0), two(0), question, ...answers.map(encodeRecord)]);
}

// A name at `at`, with what compression points to: { name, next }.
function decodeName(bytes, at) {
  const labels = [];
  let next;
  for (let jumps = 0; jumps < 20; ) {
    const length = bytes[at];
    if (length === undefined) throw new Error('the message ends within a name');
    if (length === 0) return { name: labels.join('.'), next: next ?? at + 1 };
    if (length >= 0xc0) {
      next ??= at + 2;
      at = bytes.readUInt16BE(at) & 0x3fff;
      jumps += 1;
    } else {
      labels.push(bytes.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
  }
  throw new Error('a name that never ends');
}

function decodeData(bytes, at, type, length) {
  if (type === 'A') return [...bytes.subarray(at, at + 4)].join('.');
  if (type === 'AAAA') return bytes.subarray(at, at + 16).toString('hex').match(/..../g).map((group) => Number.parseInt(group, 16).toString(16)).join(':');
  if (type === 'CNAME' || type === 'PTR' || type === 'NS') return decodeName(bytes, at).name;
  return bytes.subarray(at, at + length);
}

// { id, code, truncated, name, type, question (its bytes), answers: [{ name, type, ttl, data }] }
export function decode(bytes) {
  const flags = bytes.readUInt16BE(2);
  const { name, next } = decodeName(bytes, 12);
  const message = {
    id: bytes.readUInt16BE(0), code: Object.keys(codes).find((code) => codes[code] === (flags & 15)) ?? flags & 15, truncated: (flags & 0x0200) !== 0,
    name, type: typeNames[bytes.readUInt16BE(next)] ?? bytes.readUInt16BE(next), question: bytes.subarray(12, next + 4), answers: [],
  };
  let at = next + 4;
  for (let left = bytes.readUInt16BE(6); left > 0; left -= 1) {
    const owner = decodeName(bytes, at);
    const type = typeNames[bytes.readUInt16BE(owner.next)] ?? bytes.readUInt16BE(owner.next);
    const length = bytes.readUInt16BE(owner.next + 8);
    message.answers.push({ name: owner.name, type, ttl: bytes.readUInt32BE(owner.next + 4), data: decodeData(bytes, owner.next + 10, type, length) });
    at = owner.next + 10 + length;
  }
  return message;
}
