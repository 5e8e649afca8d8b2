// An error of the system, with its fields.
// exit: 1
// stderr: yes
import { readFileSync } from 'node:fs';
readFileSync('/workspace/no-such-file');
