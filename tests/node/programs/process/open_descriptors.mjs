// Which descriptors are open when the program starts, and of what kind they are.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
for (const fd of readdirSync('/proc/self/fd').sort((one, other) => one - other)) {
  try {
    const target = readlinkSync(`/proc/self/fd/${fd}`).replace(/\d+/, 'N');
    console.log(fd, target, /flags:\t(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))[1]);
  } catch (error) {
    console.log(fd, error.code); // the one that lists the directory
  }
}
