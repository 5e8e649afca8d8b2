// What a program knows of itself: environment, ids, directories, versions, a report, its entry in /proc.
import { readFileSync, readlinkSync } from 'node:fs';
import os from 'node:os';
import v8 from 'node:v8';
console.log({ ...process.env }, process.cwd(), process.title, process.umask(), process.getuid(), process.getgroups());
console.log(process.versions, process.features, process.config.variables.napi_build_version, process.allowedNodeEnvironmentFlags.size);
console.log(process.pid === Number(readlinkSync('/proc/self')), process.ppid, readFileSync('/proc/self/cmdline', 'utf8').split('\0'));
console.log(readFileSync('/proc/self/comm', 'utf8'), readFileSync('/proc/self/limits', 'utf8'));
console.log(os.availableParallelism(), os.totalmem(), v8.getHeapStatistics().heap_size_limit, process.constrainedMemory());
const { header, environmentVariables, userLimits } = process.report.getReport();
console.log(header.commandLine, header.cwd, header.processId === process.pid, Object.keys(environmentVariables).length, userLimits);
console.log(process.listenerCount('exit'), process.getActiveResourcesInfo(), Object.keys(globalThis));
