// A file of variables.
import util from 'node:util';
process.loadEnvFile('own.env');
console.log(process.env.FROM_FILE, process.env.QUOTED, process.env.HOME, util.parseEnv('A=1\nB="x y"\n#C=2'));
try {
  process.loadEnvFile('missing.env');
} catch (error) {
  console.log(error.code);
}
