// Source maps can be found and switched on.
import { findSourceMap, SourceMap } from 'node:module';
import { writeFileSync } from 'node:fs';
const map = { version: 3, sources: ['original.ts'], names: [], mappings: 'AAAA', file: 'x.cjs', sourcesContent: ['throw'] };
console.log(findSourceMap('/workspace/index.js'), new SourceMap(map).findEntry(0, 0));
process.setSourceMapsEnabled(true);
writeFileSync(
  'x.cjs',
  `exports.fail = () => { throw new Error('mapped'); };\n//# sourceMappingURL=data:application/json;base64,${btoa(JSON.stringify(map))}`,
);
try {
  (await import('./x.cjs')).default.fail();
} catch (error) {
  console.log(error.stack.split('\n')[1]);
}
console.log(process.sourceMapsEnabled);
