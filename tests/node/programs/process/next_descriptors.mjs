// The numbers that files get when the program opens some.
import { closeSync, openSync } from 'node:fs';
const fds = Array.from({ length: 5 }, () => openSync('/dev/null'));
console.log(fds);
fds.forEach((fd) => closeSync(fd));
console.log(openSync('/dev/null') === fds[0]);
