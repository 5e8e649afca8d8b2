// Awaits at the top level, in order with other work.
setTimeout(() => console.log('timer'), 0);
queueMicrotask(() => console.log('microtask'));
console.log(await Promise.resolve('value'));
for await (const value of (async function* () {
  yield 1;
  yield 2;
})())
  console.log(value);
await using_timer();
async function using_timer() {
  await new Promise((resolve) => setTimeout(resolve, 5));
  console.log('waited');
}
const { setTimeout: sleep } = await import('node:timers/promises');
console.log(
  await sleep(1, 'slept'),
  await Promise.allSettled([Promise.reject(new Error('no')), 1]).then((all) => all.map(({ status }) => status)),
);
