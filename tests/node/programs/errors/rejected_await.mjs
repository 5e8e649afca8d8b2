// A rejected top-level await.
// exit: 1
// stderr: yes
async function deep() {
  await null;
  throw new Error('after a wait');
}
async function middle() {
  await deep();
}
await middle();
