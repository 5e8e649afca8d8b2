// Numbers that are no numbers in variables that Node.js reads.
// env: {"UV_THREADPOOL_SIZE": "nonsense", "NODE_NO_WARNINGS": "0", "NODE_PENDING_DEPRECATION": "0", "FORCE_COLOR": "0", "NODE_DISABLE_COLORS": ""}
// stderr: yes
import { readFile } from 'node:fs/promises';
console.log((await readFile('/dev/null')).length, { a: 1 });
process.emitWarning('shown');
