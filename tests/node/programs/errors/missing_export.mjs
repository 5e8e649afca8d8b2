// A name that a module does not export.
// exit: 1
// stderr: yes
import { noSuchExport } from 'node:fs';
console.log(noSuchExport);
