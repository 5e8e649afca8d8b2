// The limits of the heap are those that the memory of the sandbox gives.
import v8 from 'node:v8';
const {
  heap_size_limit,
  total_heap_size,
  used_heap_size,
  malloced_memory,
  number_of_native_contexts,
  number_of_detached_contexts,
  does_zap_garbage,
} = v8.getHeapStatistics();
console.log(
  heap_size_limit,
  total_heap_size < 40e6,
  used_heap_size < total_heap_size,
  malloced_memory < 20e6,
  number_of_native_contexts,
  number_of_detached_contexts,
  does_zap_garbage,
);
console.log(
  v8.getHeapSpaceStatistics().map(({ space_name }) => space_name),
  process.constrainedMemory(),
);
