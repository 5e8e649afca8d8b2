// A working directory that is removed.
import { mkdirSync, rmdirSync } from 'node:fs';
mkdirSync('gone');
process.chdir('gone');
rmdirSync('/workspace/gone');
try {
  console.log(process.cwd());
} catch (error) {
  console.log(error.code, error.syscall, error.message);
}
