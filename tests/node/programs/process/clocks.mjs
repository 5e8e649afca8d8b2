// The clocks are the program's own: its time starts when it starts.
console.log(process.uptime() > 0, process.uptime() < 10);
const [seconds, nanoseconds] = process.hrtime();
console.log(
  Number.isInteger(seconds),
  nanoseconds < 1e9,
  typeof process.hrtime.bigint(),
  process.hrtime.bigint() <= process.hrtime.bigint(),
);
const [difference] = process.hrtime([seconds, nanoseconds]);
console.log(difference < 10);
console.log(Math.abs(Date.now() - (performance.timeOrigin + performance.now())) < 1000);
