// A loop of microtasks that stops itself.
// host: yes
let left = 100_000;
const next = () => (--left > 0 ? queueMicrotask(next) : console.log('done'));
next();
setTimeout(() => console.log('after'), 0);
