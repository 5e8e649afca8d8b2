// The working directory, and changing it.
import { mkdirSync } from 'node:fs';
console.log(process.cwd(), process.env.PWD);
mkdirSync('below');
process.chdir('below');
console.log(process.cwd(), process.env.PWD);
try {
  process.chdir('missing');
} catch (error) {
  console.log(error.message);
}
