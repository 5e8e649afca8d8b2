// Dynamic imports of files, data, built-ins and what does not exist.
import { writeFileSync } from 'node:fs';
writeFileSync('good.mjs', "export const value = 'good'; export default import.meta.url;");
writeFileSync('throws.mjs', "throw new TypeError('from inside');");
writeFileSync('syntax.mjs', 'export const = 1;');
writeFileSync('cycle_a.mjs', "import { b } from './cycle_b.mjs'; export const a = 'a'; export const seen = b;");
writeFileSync('cycle_b.mjs', "import { a } from './cycle_a.mjs'; export let b; try { b = a; } catch (error) { b = error.message; }");
for (const name of [
  './good.mjs',
  './good.mjs?query',
  'data:text/javascript,export default 5',
  'node:path',
  './throws.mjs',
  './syntax.mjs',
  './missing.mjs',
  './',
  'missing-package',
  'node:missing',
  'http://localhost/x.mjs',
  './cycle_a.mjs',
]) {
  try {
    const loaded = await import(name);
    console.log(name, Object.keys(loaded).length < 5 ? { ...loaded } : typeof loaded);
  } catch (error) {
    console.log(name, error.name, error.code, error.message.split('\n')[0]);
  }
}
