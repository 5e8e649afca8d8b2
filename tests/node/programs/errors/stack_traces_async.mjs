// Stack traces across awaits.
const step = async (n) => {
  await null;
  if (n === 0) throw new Error('bottom');
  await step(n - 1);
};
await step(3).catch((error) => console.log(error.stack));
await Promise.all([step(0)]).catch((error) => console.log(error.stack));
await Promise.any([step(0)]).catch((error) => console.log(error.errors[0].stack, error.stack));
