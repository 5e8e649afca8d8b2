// Output, then a rejection of a chain: both arrive, in their streams.
// exit: 1
// stderr: yes
console.log('x'.repeat(10_000));
const main = async () => {
  await new Promise((resolve) => setTimeout(resolve, 1));
  throw Object.assign(new Error('main failed'), { code: 'E_MAIN', info: { tries: 3 } });
};
main();
