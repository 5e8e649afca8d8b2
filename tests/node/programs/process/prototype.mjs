// What process is, and how it is shown.
console.log(
  Object.prototype.toString.call(process),
  process instanceof (await import('node:events')).EventEmitter,
  process.constructor.name,
);
console.log(Object.getPrototypeOf(process).constructor.name, Object.getOwnPropertyNames(Object.getPrototypeOf(process)));
console.log(
  process === globalThis.process,
  (await import('node:process')).default === process,
  process.getBuiltinModule('process') === process,
);
