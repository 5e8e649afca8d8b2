// What is too large.
const attempts = [
  () => 'x'.repeat(2 ** 30),
  () => new Array(-1),
  () => new ArrayBuffer(2 ** 53),
  () => Buffer.alloc(2 ** 53),
  () => 'x'.padEnd(2 ** 30),
  () => new Array(5).fill('x'.repeat(2 ** 28)).join(''),
  () => 2n ** (2n ** 40n),
];
for (const attempt of attempts)
  try {
    console.log(attempt().length);
  } catch (error) {
    console.log(error.name, error.code, error.message);
  }
