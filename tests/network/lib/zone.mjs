// The names of the lab and what its name server does when asked for them. Everything is under .test, which nobody has.
import { addresses, secure } from './addresses.mjs';

const { public: server, lan, metadata, host } = addresses;
const A = (...data) => data.map((address) => ({ type: 'A', data: address }));
const AAAA = (...data) => data.map((address) => ({ type: 'AAAA', data: address }));
const both = ({ v4, v6 }) => [...A(v4), ...AAAA(v6)];
const manyAddresses = Array.from({ length: 100 }, (_, n) => `93.184.216.${n + 100}`);

// A name has records; or `turns`, of which the first query of a type gets the first and all after the last their own; or a
// `trick`, which name_server.mjs knows.
export const zone = {
  'good.test': { records: [...both(server), { type: 'TXT', data: 'a good name' }, { type: 'MX', data: 'mail.good.test' }] },
  'sub.good.test': { records: both(server) },
  'deep.sub.good.test': { records: both(server) },
  'brief.good.test': { records: A(server.v4), ttl: 0 },
  'other.test': { records: both(server) },
  'v4.test': { records: A(server.v4) },
  'v6.test': { records: AAAA(server.v6) },
  'alias.test': { records: [{ type: 'CNAME', data: 'good.test' }] },
  'alias.good.test': { records: [{ type: 'CNAME', data: 'other.test' }] },
  'trap.good.test': { records: [{ type: 'CNAME', data: 'evil.test' }] },
  'round.good.test': { records: [{ type: 'CNAME', data: 'round.good.test' }] },
  'rebind.test': { turns: [both(server), both(lan)] },
  'evil.test': { records: both(lan) },
  'mixed.test': { records: [...both(server), ...both(lan)] },
  'loop.test': { records: [...A('127.0.0.1'), ...AAAA('::1')] },
  'zero.test': { records: [...A('0.0.0.0'), ...AAAA('::')] },
  'meta.test': { records: both(metadata) },
  'metadata.google.internal': { records: both(metadata) },
  'host.docker.internal': { records: [...A('10.0.2.2'), ...AAAA('fd00::2')] },
  'self.test': { records: both(host) },
  'mapped.test': { records: AAAA(`::ffff:${lan.v4}`) },
  'translated.test': { records: AAAA(`64:ff9b::${lan.v4}`) },
  'down.test': { records: A(addresses.unreachable.v4) },
  'big.test': { records: A(...manyAddresses), trick: 'truncated' },
  'long.test': { records: Array.from({ length: 20 }, (_, n) => ({ type: 'TXT', data: `${n}:`.padEnd(200, 'x') })), trick: 'truncated' },
  'failing.test': { code: 'SERVFAIL' },
  'silent.test': { trick: 'silent' },
  'late.test': { records: both(server), trick: 'held' },
  'malformed.test': { records: both(server), trick: 'malformed' },
  'wrong-id.test': { records: both(server), trick: 'wrong id first' },
  'wrong-question.test': { records: both(server), trick: 'wrong question first' },
  'forged.test': { records: both(server), trick: 'other records too' },
  // Those with a certificate of the authority that the operator trusts.
  'api.test': { records: both(secure.api) },
  'second.test': { records: both(secure.api) },
  'ported.test': { records: both(secure.api) },
  'ordinary.test': { records: both(secure.api) },
  // Names whose server is another one than theirs, as if somebody had forged the answer, or cannot be trusted.
  'stolen.test': { records: both(secure.otherAuthority) },
  'mistaken.test': { records: both(secure.otherName) },
  'expired.test': { records: both(secure.expired) },
  'old.test': { records: both(secure.oldVersion) },
  'resetting.test': { records: both(secure.resetter) },
};
