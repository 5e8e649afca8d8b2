// Nobody has touched the prototypes.
for (const name of [
  'Object',
  'Function',
  'Array',
  'Promise',
  'Error',
  'RegExp',
  'Map',
  'String',
  'Symbol',
  'JSON',
  'Math',
  'Reflect',
  'Atomics',
  'Intl',
  'WebAssembly',
  'Iterator',
]) {
  const value = globalThis[name];
  console.log(
    name,
    Reflect.ownKeys(value ?? {})
      .map(String)
      .sort()
      .join(' '),
    '|',
    Reflect.ownKeys(value?.prototype ?? {})
      .map(String)
      .sort()
      .join(' '),
  );
}
console.log(Object.isFrozen(Object.prototype), Error.stackTraceLimit, Object.keys(Error), typeof Error.prepareStackTrace);
