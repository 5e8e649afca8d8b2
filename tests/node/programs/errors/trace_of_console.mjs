// console.trace shows who called.
// stderr: yes
function caller() {
  console.trace('trace of', { a: 1 });
}
caller();
