// Deprecated functions of Node.js and of the program's own.
// stderr: yes
const util = require('node:util');
const old = util.deprecate(() => 5, 'old() is old', 'DEP_OLD');
console.log(old(), old());
console.log(new Buffer('abc').toString(), util.isDeepStrictEqual({}, {}));
console.log(require('node:url').parse('http://user@host:80/p?q#h').host);
