// An error event whose value is no error.
// exit: 1
// stderr: yes
import { EventEmitter } from 'node:events';
new EventEmitter().emit('error', { reason: 'no error object' });
