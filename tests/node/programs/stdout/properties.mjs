// What kind of streams the outputs are.
import { fstatSync } from 'node:fs';
for (const stream of [process.stdout, process.stderr]) {
  console.log(
    stream.fd,
    stream.isTTY,
    stream.columns,
    stream._type,
    stream.constructor.name,
    stream.writableHighWaterMark,
    stream.writableLength,
    stream.writable,
    stream.readable,
    stream._isStdio,
  );
  console.log(
    typeof stream.getColorDepth,
    typeof stream.hasColors,
    stream.eventNames(),
    stream.listenerCount('error'),
    fstatSync(stream.fd).isFIFO(),
    stream._handle?.constructor.name,
  );
}
