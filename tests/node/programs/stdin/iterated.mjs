// Input by an asynchronous iterator.
// stdin: {"repeat": "0123456789abcdef\n", "times": 20000}
let length = 0;
for await (const chunk of process.stdin) length += chunk.length;
console.log(length, process.stdin.readableEnded, process.stdin.bytesRead);
