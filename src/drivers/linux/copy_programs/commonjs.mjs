// CommonJS modules: their scope, cycles, JSON, and what an ES module sees of them.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
writeFileSync('one.cjs', "exports.early = 1; exports.two = require('./two.cjs'); exports.late = 2; exports.names = [__filename, __dirname, require.main === module];");
writeFileSync('two.cjs', "module.exports = { seen: Object.keys(require('./one.cjs')), paths: module.paths, self: typeof this };");
writeFileSync('data.json', '{"a": [1, 2]}');
const require = createRequire(import.meta.url);
console.log(require('./one.cjs'), require('./data.json'), Object.keys(require.cache));
console.log(Object.keys(await import('./one.cjs')), require('node:util').inspect.defaultOptions);
try {
  require('./absent.cjs');
} catch ({ code, message }) {
  console.log(code, message);
}
