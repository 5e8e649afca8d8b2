// The program is no single executable, builds no snapshot, and has no asset.
import sea from 'node:sea';
import v8 from 'node:v8';
import trace from 'node:trace_events';
console.log(sea.isSea(), v8.startupSnapshot.isBuildingSnapshot(), trace.getEnabledCategories());
try {
  sea.getAsset('x');
} catch (error) {
  console.log(error.code);
}
