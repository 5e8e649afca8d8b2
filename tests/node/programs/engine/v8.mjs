// What v8 tells and takes.
import v8 from 'node:v8';
const value = { a: [1, 2n, new Map([[1, new Date(0)]])], self: null };
value.self = value;
const copy = v8.deserialize(v8.serialize(value));
console.log(copy, v8.serialize('text').toString('hex'), v8.startupSnapshot?.isBuildingSnapshot?.(), v8.cachedDataVersionTag() > 0);
console.log(
  Object.keys(v8.getHeapStatistics()),
  Object.keys(v8.getHeapCodeStatistics()),
  typeof v8.getHeapSnapshot,
  v8.promiseHooks !== undefined,
);
v8.setFlagsFromString('--stack-size=500');
console.log(typeof v8.setHeapSnapshotNearHeapLimit, typeof v8.GCProfiler, v8.isStringOneByteRepresentation?.('x'));
