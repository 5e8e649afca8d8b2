// noDeprecation and throwDeprecation can be set by the program.
import util from 'node:util';
process.noDeprecation = true;
util.deprecate(() => {}, 'silent', 'DEP_A')();
process.noDeprecation = false;
process.throwDeprecation = true;
process.on('uncaughtException', (error) => console.log(error.name, error.code));
util.deprecate(() => {}, 'loud', 'DEP_B')();
