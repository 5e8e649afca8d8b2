// An ES module can be required unless it awaits.
// stderr: yes
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
const require = createRequire(import.meta.url);
writeFileSync('plain.mjs', 'export default 1; export const two = 2;');
writeFileSync('waits.mjs', 'await 1; export default 1;');
console.log(require('./plain.mjs'));
try {
  console.log(require('./waits.mjs'));
} catch (error) {
  console.log(error.code);
}
process.emitWarning('last');
