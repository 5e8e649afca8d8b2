// Lines of the input, by callbacks, by the iterator and by questions.
// stdin: "one\ntwo\r\nthree\n\nfive"
import readline from 'node:readline';
import { createInterface } from 'node:readline/promises';
const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
console.log(await lines.question('name? '), lines.terminal, lines.line);
for await (const line of lines) console.log(JSON.stringify(line));
console.log(typeof readline.createInterface, process.stdin.destroyed);
