// ES modules: top-level await, what a module knows of itself, dynamic imports, and an import that fails.
import { writeFileSync } from 'node:fs';
import * as path from 'node:path';
console.log(import.meta.url, import.meta.filename, import.meta.dirname, import.meta.main, this);
console.log(process.argv, process.execArgv, process.execPath, path.resolve('x'));
writeFileSync('other.mjs', 'await null; export let count = 0; export const more = () => ++count; export default import.meta.url;');
const other = await import('./other.mjs');
other.more();
console.log(other.count, other.default, (await import('./other.mjs')) === other);
console.log((await import('data:text/javascript,export default 6 * 7')).default);
await import('./missing.mjs').catch(({ code, message }) => console.log(code, message));
console.log(await Promise.all([1, 2, 3].map(async (value) => value * 2)));
