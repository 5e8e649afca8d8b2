// Streams: pipelines, transforms, errors, and those of browsers.
// host: yes
import { compose, Duplex, PassThrough, Readable, Transform, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
const upper = () => new Transform({ transform: (chunk, _, done) => done(null, String(chunk).toUpperCase()) });
const parts = [];
await pipeline(
  Readable.from(['a', 'b', 'c']),
  upper(),
  new Writable({ objectMode: true, write: (chunk, _, done) => done(void parts.push(String(chunk))) }),
);
console.log(
  parts,
  await Readable.from([1, 2, 3, 4])
    .filter((n) => n % 2)
    .map((n) => n * 10)
    .toArray(),
  await Readable.from([1, 2]).reduce((a, b) => a + b),
);
await pipeline(
  new Readable({
    read() {
      this.destroy(new Error('broken'));
    },
  }),
  new PassThrough(),
).catch((error) => console.log(error.message));
const web = new ReadableStream({
  start(controller) {
    controller.enqueue('x');
    controller.close();
  },
});
for await (const value of web.pipeThrough(new TransformStream({ transform: (value, controller) => controller.enqueue(value + value) })))
  console.log(value);
console.log(
  await new Response(Readable.toWeb(Readable.from(['web']))).text().catch((error) => error.message),
  typeof compose,
  Duplex.from('x').readable,
  new Readable().readableHighWaterMark,
);
