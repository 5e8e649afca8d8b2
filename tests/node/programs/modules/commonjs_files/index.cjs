// require of files, directories, packages and JSON, with cycles.
console.log(require('./one'), require('./directory'), require('./data'), require('small-package'), require('small-package/sub'));
console.log(
  Object.keys(require.cache),
  module.children.map(({ id }) => id),
);
try {
  require('small-package/hidden');
} catch (error) {
  console.log(error.code, error.message);
}
