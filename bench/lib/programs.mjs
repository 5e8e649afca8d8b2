// Programs that are timed. Each ends by printing "hello", which spawner.py wants to see.
export const hello = 'console.log("hello")';

// What programs of models do most, all within the sandbox: a server, fetch, hashes and keys, streams and compression.
export const everyday = `
import { createCipheriv, createHash, randomBytes, webcrypto } from 'node:crypto';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip, gunzipSync } from 'node:zlib';

const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ path: request.url, list: Array.from({ length: 50 }, (_, at) => at) }));
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const answer = await (await fetch('http://127.0.0.1:' + server.address().port + '/data?q=1')).json();
server.close();
server.closeAllConnections();

const text = JSON.stringify(answer).repeat(100);
const digest = createHash('sha256').update(text).digest('hex');
const same = Buffer.from(await webcrypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('hex');
const cipher = createCipheriv('aes-256-gcm', randomBytes(32), randomBytes(12));
const parts = [];
await pipeline(Readable.from(text.match(/.{1,1000}/g)), createGzip(), async (source) => {
  for await (const part of source) parts.push(part);
});
const whole = gunzipSync(Buffer.concat(parts)).toString();
if (digest !== same || whole !== text || cipher.update(text).length !== text.length) throw new Error('wrong');
console.log('hello');`;

// Some two seconds of one processor: functions worth optimizing, and garbage of both generations.
export const busy = `
class Body { constructor(x, y, z) { this.x = x; this.y = y; this.z = z; this.v = { x: 0, y: 0, z: 0 }; } }
const bodies = Array.from({ length: 40 }, (_, at) => new Body(Math.sin(at), Math.cos(at), at / 40));
function step(dt) {
  for (const a of bodies) for (const b of bodies) {
    if (a === b) continue;
    const [dx, dy, dz] = [b.x - a.x, b.y - a.y, b.z - a.z];
    const pull = dt / (dx * dx + dy * dy + dz * dz + 0.01) ** 1.5;
    a.v = { x: a.v.x + dx * pull, y: a.v.y + dy * pull, z: a.v.z + dz * pull };
  }
  for (const a of bodies) { a.x += a.v.x * dt; a.y += a.v.y * dt; a.z += a.v.z * dt; }
}
for (let i = 0; i < 6000; i++) step(1e-5);
const kept = new Map();
for (let i = 0; i < 600_000; i++) {
  kept.set('key ' + (i % 50_000), { at: i, name: 'value ' + i, list: [i, i + 1, i + 2] });
  if (i % 100_000 === 0) JSON.parse(JSON.stringify([...kept.values()]));
}
const words = Array.from({ length: 200_000 }, (_, at) => (at * 2654435761 % 2 ** 32).toString(36)).sort();
if (!(bodies[0].x < 2 && kept.size === 50_000 && words.length === 200_000)) throw new Error('wrong');
console.log('hello');`;
