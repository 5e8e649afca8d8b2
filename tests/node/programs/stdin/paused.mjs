// Input that nobody reads does not keep the program.
// stdin: "unread"
process.stdin.on('end', () => console.log('never'));
process.stdin.pause();
console.log(process.stdin.isPaused(), process.stdin.readable);
process.stdin.once('readable', () => {
  console.log(String(process.stdin.read(3)), process.stdin.read(100));
  process.stdin.destroy();
});
