// EventTarget as in browsers.
// host: yes
const target = new EventTarget();
target.addEventListener('a', (event) => {
  console.log(event.type, event.detail, event.cancelable, event.eventPhase);
  event.preventDefault();
  event.stopImmediatePropagation();
});
target.addEventListener('a', () => console.log('never'));
target.addEventListener(
  'b',
  {
    handleEvent() {
      console.log('object', this === target);
    },
  },
  { once: true },
);
console.log(
  target.dispatchEvent(new CustomEvent('a', { detail: { x: 1 }, cancelable: true })),
  target.dispatchEvent(new Event('b')),
  target.dispatchEvent(new Event('b')),
);
console.log(new Event('x').isTrusted, new MessageEvent('m', { data: 1 }).data);
