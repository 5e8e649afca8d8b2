// What the program used is counted from its own start.
const usage = process.resourceUsage();
console.log(Object.keys(usage));
console.log(
  usage.userCPUTime + usage.systemCPUTime < 5e6,
  usage.maxRSS > 20_000,
  usage.maxRSS < 200_000,
  usage.swappedOut,
  usage.signalsCount,
  usage.ipcSent,
);
const { user, system } = process.cpuUsage();
console.log(user + system > 0, user + system < 5e6);
const before = process.cpuUsage();
for (let i = 0, x = 0; i < 1e7; i++) x += i;
console.log(process.cpuUsage(before).user >= 0);
