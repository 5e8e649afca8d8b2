// NODE_PENDING_DEPRECATION is looked at when the program starts.
// env: {"NODE_PENDING_DEPRECATION": "1"}
// stderr: yes
import { Buffer } from 'node:buffer';
process.on('warning', ({ name, code }) => console.log(name, code));
console.log(new Buffer('x').length);
