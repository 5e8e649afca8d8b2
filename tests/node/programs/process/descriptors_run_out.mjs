// Descriptors run out at the limit, and can be used again.
import { closeSync, openSync } from 'node:fs';
const fds = [];
try {
  for (;;) fds.push(openSync('/dev/null'));
} catch (error) {
  console.log(error.code, fds.length, fds.at(-1));
}
fds.forEach((fd) => closeSync(fd));
console.log(openSync('/dev/null') === fds[0]);
