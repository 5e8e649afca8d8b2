// CommonJS from an ES module.
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
const require = createRequire(import.meta.url);
writeFileSync(
  'a.cjs',
  'module.exports = { id: module.id, parent: typeof module.parent, paths: module.paths, loaded: module.loaded, main: require.main === module };',
);
writeFileSync('b.json', '[1]');
console.log(require('./a.cjs'), require('./b.json'), require('./a.cjs') === require('./a.cjs'), require.resolve('./a.cjs'), require.main);
console.log(Object.keys(require.cache), require.resolve.paths('x'), Object.keys(require.extensions));
try {
  require('./missing');
} catch (error) {
  console.log(error.code, error.message);
}
