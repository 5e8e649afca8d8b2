// A syntax error in the main module.
// exit: 1
// stderr: yes
console.log('never');
const x = ;
