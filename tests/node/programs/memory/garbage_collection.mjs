// Collections by hand, when switched on by the program itself.
import v8 from 'node:v8';
import vm from 'node:vm';
console.log(typeof gc);
v8.setFlagsFromString('--expose-gc');
const collect = vm.runInNewContext('gc');
let target = { big: new Array(1e5).fill(0) };
const reference = new WeakRef(target);
target = null;
await new Promise((resolve) => setTimeout(resolve, 1));
collect();
console.log(typeof collect, reference.deref());
