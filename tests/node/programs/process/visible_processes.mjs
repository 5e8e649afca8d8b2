// No other process is in sight but those of the program.
import { readdirSync, readFileSync } from 'node:fs';
for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
  console.log(Number(pid) === process.pid, readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0'));
}
