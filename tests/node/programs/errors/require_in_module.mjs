// require in an ES module, with advice.
// exit: 1
// stderr: yes
const fs = require('node:fs');
