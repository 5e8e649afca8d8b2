// What import.meta says of the main module.
console.log(Object.keys(import.meta).sort(), import.meta.url, import.meta.filename, import.meta.dirname, import.meta.main);
console.log(import.meta.resolve('./x.mjs'), import.meta.resolve('node:fs'), import.meta.resolve('fs'));
try {
  console.log(import.meta.resolve('no-such-package'));
} catch (error) {
  console.log(error.code, error.message);
}
console.log(Object.getPrototypeOf(import.meta), typeof require, typeof module, typeof __filename, this);
