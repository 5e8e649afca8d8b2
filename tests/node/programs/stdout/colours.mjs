// FORCE_COLOR counts, and what else decides about colours.
// env: {"FORCE_COLOR": "1"}
import { styleText } from 'node:util';
import tty from 'node:tty';
console.log({ a: 1, b: 'text', c: null });
console.log(
  JSON.stringify(styleText('red', 'x', { validateStream: true, stream: process.stdout })),
  tty.isatty(1),
  tty.WriteStream.prototype.getColorDepth.call({}, process.env),
);
