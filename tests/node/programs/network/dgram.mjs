// Datagrams.
import dgram from 'node:dgram';
import { once } from 'node:events';
const [one, other] = [dgram.createSocket('udp4'), dgram.createSocket('udp4')];
one.bind(0, '127.0.0.1');
await once(one, 'listening');
other.send(['a', 'b'], one.address().port, '127.0.0.1');
const [message, remote] = await once(one, 'message');
console.log(String(message), remote.address, remote.family, remote.size, one.getRecvBufferSize() > 0);
one.close();
other.close(() => console.log('closed'));
