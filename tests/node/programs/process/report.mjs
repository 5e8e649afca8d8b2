// A diagnostic report names the program's command line, and its settings are the usual ones.
const report = process.report.getReport();
console.log(
  Object.keys(report),
  report.header.commandLine,
  report.header.event,
  report.header.cwd,
  report.header.processId === process.pid,
);
console.log(report.header.componentVersions.v8 === process.versions.v8, Object.keys(report.environmentVariables).sort(), report.workers);
console.log(report.javascriptHeap.totalGlobalHandlesMemory >= 0, report.sharedObjects.length > 3, Object.keys(report.userLimits));
const { directory, filename, compact, signal, reportOnFatalError, reportOnSignal, reportOnUncaughtException } = process.report;
console.log({ directory, filename, compact, signal, reportOnFatalError, reportOnSignal, reportOnUncaughtException });
