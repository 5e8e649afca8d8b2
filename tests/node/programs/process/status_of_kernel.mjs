// What the kernel says of the process: rights, filters, masks of signals.
import { readFileSync } from 'node:fs';
const wanted =
  /^(Name|Umask|State|PPid|TracerPid|Uid|Gid|Groups|Threads|SigPnd|ShdPnd|SigBlk|SigIgn|SigCgt|Cap\w+|NoNewPrivs|Seccomp\w*|THP_enabled|CoreDumping|Mems_allowed_list):/;
console.log(
  readFileSync('/proc/self/status', 'utf8')
    .split('\n')
    .filter((line) => wanted.test(line))
    .join('\n'),
);
