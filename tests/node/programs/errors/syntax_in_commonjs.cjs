// A syntax error in a CommonJS main module.
// exit: 1
// stderr: yes
console.log('never');
let y = 1;
let y = 2;
