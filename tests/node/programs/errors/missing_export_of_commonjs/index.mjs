// A name that a CommonJS module does not export, with advice.
// exit: 1
// stderr: yes
import { hidden } from './lib.cjs';
console.log(hidden);
