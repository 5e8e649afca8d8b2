// What assertions say when they fail.
// host: yes
import assert from 'node:assert/strict';
const attempts = [
  () => assert.equal(1, 2),
  () => assert.deepEqual({ a: [1, 2, { b: 3 }] }, { a: [1, 2, { b: 4 }] }),
  () => assert(0),
  () => assert.ok(null, 'own text'),
  () => assert.throws(() => {}),
  () => assert.match('abc', /x/),
  () => assert.fail(),
  () => assert.notEqual(1, 1),
  () => assert.equal('a\nb\nc', 'a\nB\nc'),
  () => assert.ifError(new Error('given')),
];
for (const attempt of attempts)
  try {
    attempt();
  } catch ({ name, code, message, generatedMessage }) {
    console.log(name, code, generatedMessage, message);
  }
await assert.rejects(Promise.resolve(1)).catch(({ message }) => console.log(message));
