// An error in a timer.
// exit: 1
// stderr: yes
setTimeout(function later() {
  throw new Error('in a timer');
}, 1);
setTimeout(() => console.log('never'), 50);
