// The same in the program itself.
// env: {"NODE_DEBUG": "module"}
// stderr: yes
const fs = require('node:fs');
fs.writeFileSync('lib.js', 'module.exports = 5');
console.log(require('./lib'));
