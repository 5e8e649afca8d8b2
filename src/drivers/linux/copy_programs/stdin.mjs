// Reads what it is given, to its end, by lines.
// stdin: "first\nsecond\n"
import readline from 'node:readline';
for await (const line of readline.createInterface({ input: process.stdin })) console.log(JSON.stringify(line));
console.log(process.stdin.isTTY, process.stdin.constructor.name, process.stdout.constructor.name);
