// The program may put its own function in the place of write.
const { write } = process.stdout;
const taken = [];
process.stdout.write = (text) => taken.push(text);
console.log('taken');
process.stdout.write = write;
console.log(taken);
