// Contexts, scripts and modules of vm.
import vm from 'node:vm';
const context = vm.createContext({ x: 2, console });
console.log(
  vm.runInContext('x *= 21; globalThis.y = typeof process; x', context),
  context.y,
  vm.isContext(context),
  vm.runInNewContext('[] instanceof Array'),
  vm.runInThisContext('typeof require'),
);
const script = new vm.Script('throw new Error("inside")', { filename: 'named.js', lineOffset: 9 });
try {
  script.runInThisContext();
} catch (error) {
  console.log(error.stack.split('\n').slice(0, 2));
}
try {
  vm.runInNewContext('for (;;);', {}, { timeout: 10 });
} catch (error) {
  console.log(error.code, error.message);
}
console.log(
  script.cachedDataRejected,
  script.createCachedData().length > 50,
  vm.compileFunction('return a + 1', ['a'])(1),
  typeof vm.SourceTextModule,
);
console.log(vm.runInContext('Object.getOwnPropertyNames(globalThis).sort().join()', vm.createContext()));
