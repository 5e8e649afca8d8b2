// Built-in modules, and what is hidden.
import { builtinModules, isBuiltin } from 'node:module';
console.log(builtinModules, isBuiltin('node:test'), isBuiltin('test'));
console.log(typeof process.getBuiltinModule('fs').readFileSync, process.getBuiltinModule('no-such'));
console.log(typeof process.binding);
try {
  console.log(typeof process.binding('no_such_binding'));
} catch (error) {
  console.log(error.message);
}
