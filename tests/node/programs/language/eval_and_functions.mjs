// Code from text.
// host: yes
const local = 1;
console.log(
  eval('local + 1'),
  (0, eval)('typeof local'),
  new Function('a', 'b', 'return a * b')(3, 4),
  Object.getPrototypeOf(async () => {}).constructor('return 1').name,
);
try {
  eval('syntax error');
} catch (error) {
  console.log(error.name, error.message);
}
console.log(
  (function () {
    'use strict';
    return this;
  })(),
  new Function('return this')() === globalThis,
  (() => {
    try {
      undeclared;
    } catch (error) {
      return error.message;
    }
  })(),
);
