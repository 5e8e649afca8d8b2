// An error in a listener of an EventTarget is an uncaught exception.
// exit: 1
// stderr: yes
const target = new EventTarget();
target.addEventListener('event', () => {
  throw new Error('in a listener');
});
console.log(target.dispatchEvent(new Event('event')));
