// write tells when to wait, and drain when to go on.
let waits = 0;
for (let i = 0; i < 20; i++) {
  if (!process.stdout.write(`${'y'.repeat(30_000)}\n`)) {
    waits++;
    if (process.stdout.writableNeedDrain) await new Promise((resolve) => process.stdout.once('drain', resolve));
  }
}
console.log(typeof waits);
