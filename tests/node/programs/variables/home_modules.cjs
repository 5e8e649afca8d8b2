// Without it the global paths are those of the home and of the prefix.
console.log(require('node:module').globalPaths);
