// An error that nobody catches: its text, with the line, the stack, the cause and other properties.
// exit: 1
// stderr: yes
function inner() {
  throw Object.assign(new TypeError('told', { cause: new Error('deeper') }), { code: 'E_OWN' });
}
console.log('before');
process.emitWarning('beware');
process.on('exit', (code) => console.log('exit', code));
setTimeout(() => inner(), 1);
