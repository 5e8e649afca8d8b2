// The clock of the program starts with it and only grows.
import { performance as same, PerformanceObserver, constants } from 'node:perf_hooks';
console.log(
  same === performance,
  performance.now() > 0,
  performance.now() < 10_000,
  Math.abs(performance.timeOrigin + performance.now() - Date.now()) < 1000,
);
const { nodeStart, v8Start, environment, bootstrapComplete, loopStart, loopExit, startTime, name, entryType } = performance.nodeTiming;
console.log(
  startTime,
  name,
  entryType,
  loopExit,
  loopStart,
  nodeStart >= 0,
  nodeStart <= v8Start,
  v8Start <= environment,
  environment <= bootstrapComplete,
  bootstrapComplete <= performance.now(),
  bootstrapComplete < 10_000,
);
console.log(constants.NODE_PERFORMANCE_GC_MAJOR, PerformanceObserver.supportedEntryTypes, Object.keys(performance.toJSON()));
