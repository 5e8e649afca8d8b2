// Priority, scheduling and what the kernel would kill first.
import { readFileSync } from 'node:fs';
import os from 'node:os';
const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ');
console.log({ priority: fields[15], nice: fields[16], policy: fields[38], exitSignal: fields[35] });
console.log(os.getPriority(), readFileSync('/proc/self/oom_score_adj', 'utf8'), readFileSync('/proc/self/coredump_filter', 'utf8'));
console.log(readFileSync('/proc/self/timerslack_ns', 'utf8'), readFileSync('/proc/self/personality', 'utf8'));
