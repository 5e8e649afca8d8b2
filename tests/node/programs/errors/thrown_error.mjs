// An uncaught error in the main module, with its stack.
// exit: 1
// stderr: yes
function one() {
  two();
}
const two = () => {
  throw new RangeError('out of range');
};
console.log('before');
process.on('exit', (code) => console.log('exit', code));
one();
