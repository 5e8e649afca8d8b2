// NODE_PRESERVE_SYMLINKS keeps the names of links.
// env: {"NODE_PRESERVE_SYMLINKS": "1"}
const fs = require('node:fs');
fs.symlinkSync('real.js', 'link.js');
console.log(require('./link.js'), require('./real.js'));
