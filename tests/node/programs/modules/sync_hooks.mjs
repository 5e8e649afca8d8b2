// Hooks in the same thread.
// needs: 24
import { registerHooks } from 'node:module';
const hooks = registerHooks({
  resolve: (name, context, next) => (name === 'virtual' ? { url: 'virtual:x', format: 'module', shortCircuit: true } : next(name, context)),
  load: (url, context, next) =>
    url === 'virtual:x' ? { format: 'module', source: 'export default 7', shortCircuit: true } : next(url, context),
});
console.log((await import('virtual')).default);
hooks.deregister();
await import('virtual').catch((error) => console.log(error.code));
