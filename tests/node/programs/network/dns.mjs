// Names: localhost is known, others are not.
import dns from 'node:dns';
import { lookup } from 'node:dns/promises';
console.log(await lookup('localhost', { family: 4 }), await lookup('127.0.0.1'), dns.getDefaultResultOrder());
await lookup('no-such-host.invalid').catch((error) => console.log(error.code, error.syscall, error.hostname));
console.log(await dns.promises.lookupService('127.0.0.1', 80).catch(({ code }) => code));
