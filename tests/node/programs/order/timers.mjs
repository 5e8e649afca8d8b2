// Timers by their time, then by their order; cleared, refreshed and not counted.
// host: yes
setTimeout(() => console.log('first'), 1);
setTimeout(() => console.log('second'), 1);
clearTimeout(setTimeout(() => console.log('never'), 5));
const unreferenced = setTimeout(() => console.log('never'), 60_000).unref();
console.log(unreferenced.hasRef(), typeof unreferenced[Symbol.toPrimitive](), unreferenced.constructor.name);
setTimeout(
  (...values) => {
    console.log('last', values);
    let rounds = 0;
    const interval = setInterval(() => (++rounds === 3 ? (clearInterval(interval), console.log('three rounds')) : interval.refresh()), 2);
  },
  20,
  'a',
  1,
);
