// A snapshot of the heap can be written.
import v8 from 'node:v8';
import { statSync } from 'node:fs';
const name = v8.writeHeapSnapshot('one.heapsnapshot');
console.log(name, statSync(name).size > 1e6);
