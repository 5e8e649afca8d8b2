// The variables of a CommonJS main module.
console.log(
  __filename,
  __dirname,
  require.main === module,
  module.id,
  module.filename,
  module.loaded,
  module.parent,
  module.children,
  module.paths,
  this === module.exports,
);
console.log(Object.keys(require.cache), Object.keys(require), process.mainModule === module, arguments.length, arguments[3] === __filename);
console.log(module.constructor.name, require('node:module')._cache === require.cache, typeof module.isPreloading, module.isPreloading);
