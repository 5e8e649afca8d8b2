// NODE_REDIRECT_WARNINGS sends them to a file.
// env: {"NODE_REDIRECT_WARNINGS": "/workspace/warnings.txt"}
import { readFileSync } from 'node:fs';
process.emitWarning('to the file');
process.once('beforeExit', () => console.log(readFileSync('warnings.txt', 'utf8').replace(/\d+/, 'PID')));
