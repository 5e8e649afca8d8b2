// The same from CommonJS, and undeclared names become global.
console.log(Object.getOwnPropertyNames(globalThis).sort().join(' '));
leaked = 1;
console.log(
  globalThis.leaked,
  this === globalThis,
  (function () {
    return this === globalThis;
  })(),
);
