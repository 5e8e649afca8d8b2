// AbortController, AbortSignal and their combinations.
// host: yes
const controller = new AbortController();
controller.signal.addEventListener('abort', ({ type, target }) => console.log(type, target.reason), { once: true });
controller.abort('why');
controller.abort('again');
const alive = setInterval(() => {}, 1000); // the signal's timer does not keep a program
const timeout = AbortSignal.timeout(5);
await new Promise((resolve) => (timeout.onabort = resolve));
clearInterval(alive);
console.log(
  timeout.reason.name,
  timeout.reason.code,
  AbortSignal.any([controller.signal, timeout]).reason,
  AbortSignal.abort().reason.message,
);
try {
  timeout.throwIfAborted();
} catch (error) {
  console.log(error.message, error instanceof DOMException);
}
