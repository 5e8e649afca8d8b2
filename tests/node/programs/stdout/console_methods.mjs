// The methods of console.
// host: yes
// stderr: yes
console.table([
  { a: 1, b: 'x' },
  { a: 2, c: true },
]);
console.table(new Map([['k', 1]]));
console.group('group');
console.info('inside\ntwo lines');
console.groupCollapsed('nested');
console.debug('deeper');
console.groupEnd();
console.groupEnd();
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
console.assert(1 === 2, 'assertion %s', 'text');
console.count();
console.count('x');
console.countReset('x');
console.count('x');
console.countReset('missing');
console.error('%s is %d years, %i, %f, %j %o %O %%', 'Bob', 42.5, 42.9, '1.5', { a: 1 }, [1], { b: 2 });
console.warn(new Error('shown').message, Symbol('s'), 10n, -0, [undefined, null]);
console.timeEnd('missing');
console.log('%c styled', 'color: red', 'rest');
