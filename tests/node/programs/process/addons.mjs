// An addon that is none.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
writeFileSync('text.node', 'no library');
for (const load of [
  () => createRequire(import.meta.url)('./text.node'),
  () => process.dlopen({ exports: {} }, '/missing.node', os.constants.dlopen.RTLD_NOW),
]) {
  try {
    load();
  } catch (error) {
    console.log(error.code, error.message);
  }
}
