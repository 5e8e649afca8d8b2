// What kind of file the input is.
// stdin: "x"
import { fstatSync } from 'node:fs';
const stat = fstatSync(0);
console.log(stat.isFile(), stat.isFIFO(), stat.size, process.stdin._type, process.stdin.constructor.name);
process.stdin.destroy();
