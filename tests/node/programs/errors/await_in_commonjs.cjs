// An await where there can be none.
// exit: 1
// stderr: yes
const fs = require('node:fs');
module.exports = await fs.promises.readFile('x');
