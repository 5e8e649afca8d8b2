// Marks, measures and observers.
import { monitorEventLoopDelay, createHistogram, PerformanceObserver } from 'node:perf_hooks';
console.log(performance.getEntries().length);
performance.mark('a', { detail: { x: 1 }, startTime: 5 });
performance.mark('b', { startTime: 9 });
console.log(
  performance.measure('m', 'a', 'b').duration,
  performance.getEntriesByName('a')[0].detail,
  performance.getEntriesByType('mark').length,
);
await new Promise((resolve) => {
  const observer = new PerformanceObserver((list) => {
    console.log(list.getEntries().map(({ name, entryType }) => [name, entryType]));
    observer.disconnect();
    resolve();
  });
  observer.observe({ entryTypes: ['function', 'measure'] });
  performance.timerify(function timed() {})();
  performance.measure('n', 'a', 'b');
});
const histogram = createHistogram();
[1, 2, 300].forEach((n) => histogram.record(n));
console.log(histogram.min, histogram.max, histogram.count, typeof monitorEventLoopDelay().enable);
