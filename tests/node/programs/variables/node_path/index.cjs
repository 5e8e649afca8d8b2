// NODE_PATH is where require looks at last.
// env: {"NODE_PATH": "/workspace/elsewhere:/tmp"}
console.log(require('found-there'), require('node:module').globalPaths, module.paths);
