// Text, by the events of the stream.
// stdin: "first line\nümläut €😀\nlast"
process.stdin.setEncoding('utf8');
process.stdin.on('data', (data) => console.log('data', JSON.stringify(data)));
process.stdin.on('end', () => console.log('end', process.stdin.readableEnded));
process.stdin.on('close', () => console.log('close'));
