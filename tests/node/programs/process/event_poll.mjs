// What the loop watches when the program starts: kinds and number, not addresses.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
for (const fd of readdirSync('/proc/self/fd').sort((one, other) => one - other)) {
  let target = '';
  try {
    target = readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    continue; // the one that lists the directory
  }
  if (!/eventpoll|io_uring|inotify|timerfd|signalfd/.test(target)) continue;
  const watched = readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8').match(/^tfd: +\d+ events: +\w+/gm);
  console.log(fd, target, watched?.sort());
}
