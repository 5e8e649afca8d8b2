// A syntax error in an imported file.
// exit: 1
// stderr: yes
import './broken.js';
console.log('never');
