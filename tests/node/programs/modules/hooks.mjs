// Hooks that the program registers change what is loaded.
// stderr: yes
import { register, registerHooks } from 'node:module';
process.emitWarning('in any version');
console.log(typeof register, typeof registerHooks);
register(
  `data:text/javascript,
  const made = { format: 'module', source: 'export default "made up"', shortCircuit: true };
  export async function resolve(name, context, next) {
    return name === 'virtual' ? { url: 'virtual:x', shortCircuit: true } : next(name, context);
  }
  export async function load(url, context, next) {
    return url === 'virtual:x' ? made : next(url, context);
  }`,
);
console.log((await import('virtual')).default);
