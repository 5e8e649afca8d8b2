// Memory is reported in sensible sizes.
const usage = process.memoryUsage();
console.log(
  Object.keys(usage),
  Object.values(usage).every((value) => value >= 0),
);
console.log(
  usage.rss > 20e6,
  usage.rss < 150e6,
  usage.heapUsed < usage.heapTotal,
  usage.heapTotal < 40e6,
  usage.external < 20e6,
  usage.arrayBuffers < 5e6,
);
console.log(
  process.memoryUsage.rss() > 20e6,
  process.constrainedMemory(),
  process.availableMemory() < 600e6,
  process.availableMemory() > 300e6,
);
