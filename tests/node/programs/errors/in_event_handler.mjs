// An error in a handler of an event, and an error event without a handler.
// exit: 1
// stderr: yes
import { EventEmitter } from 'node:events';
const emitter = new EventEmitter();
emitter.on('event', () => {
  throw new Error('in a handler');
});
try {
  emitter.emit('event');
} catch (error) {
  console.log(error.message);
}
emitter.emit('error', new Error('nobody handles this'));
