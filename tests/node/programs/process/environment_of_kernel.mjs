// The kernel knows the same environment and arguments as Node.js does.
// env: {"ZED": "z", "ALPHA": "a"}
// args: ["x y", "ü"]
import { readFileSync, readlinkSync } from 'node:fs';
console.log(readFileSync('/proc/self/environ', 'utf8').split('\0'));
console.log(readFileSync('/proc/self/cmdline', 'utf8').split('\0'));
console.log(readlinkSync('/proc/self/exe'), readlinkSync('/proc/self/cwd'), readlinkSync('/proc/self/root'));
