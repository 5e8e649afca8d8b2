// The warning about too many listeners.
// stderr: yes
import { EventEmitter } from 'node:events';
const emitter = new EventEmitter();
for (let i = 0; i < 12; i++) emitter.on('event', () => {});
process.on('warning', (warning) => console.log(warning.name, warning.type, warning.count, warning.emitter === emitter));
