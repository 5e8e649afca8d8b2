// Symbols of disposal, and what is finalised at the end.
// stderr: yes
console.log(typeof Symbol.dispose, typeof Symbol.asyncDispose, typeof process.finalization);
globalThis.kept = {};
globalThis.keptToo = {}; // what is collected before the end is not finalised
process.finalization?.register(globalThis.keptToo, (object, event) => console.log('finalised', event));
process.finalization?.registerBeforeExit(globalThis.kept, (object, event) => console.log('before exit', event));
const stack = typeof DisposableStack === 'function' ? new DisposableStack() : null;
stack?.defer(() => console.log('disposed'));
stack?.dispose();
