// What CommonJS sees of the start: the loop has not begun.
const { performance } = require('node:perf_hooks');
console.log(performance.nodeTiming.loopStart, performance.nodeTiming.idleTime, performance.eventLoopUtilization());
setTimeout(() => {
  const { idle, active, utilization } = performance.eventLoopUtilization();
  console.log(
    performance.nodeTiming.loopStart > 0,
    idle >= 0,
    active > 0,
    utilization <= 1,
    performance.nodeTiming.uvMetricsInfo?.loopCount >= 0, // 0 if starting took longer than the timer
  );
}, 10);
