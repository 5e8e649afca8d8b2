// NO_COLOR and NODE_DISABLE_COLORS count as well.
// env: {"NO_COLOR": "1", "NODE_DISABLE_COLORS": "1", "TERM": "xterm-256color"}
import tty from 'node:tty';
console.log({ a: 1 }, tty.WriteStream.prototype.getColorDepth.call({}, process.env));
