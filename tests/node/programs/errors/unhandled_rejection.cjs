// A rejection that nobody handles.
// exit: 1
// stderr: yes
async function fail() {
  throw new Error('rejected');
}
fail();
setTimeout(() => console.log('never'), 100);
