// Lines from any stream, and the cursor's commands.
// host: yes
import readline from 'node:readline';
import { PassThrough, Readable } from 'node:stream';
const input = Readable.from(['one\ntw', 'o\r\nthree']);
for await (const line of readline.createInterface({ input })) console.log(JSON.stringify(line));
const output = new PassThrough();
readline.cursorTo(output, 3, 4);
readline.clearLine(output, 0);
console.log(JSON.stringify(String(output.read())));
const asked = readline.createInterface({ input: Readable.from(['answer\n']), output: new PassThrough() });
asked.question('? ', (answer) => {
  console.log(answer);
  asked.close();
});
