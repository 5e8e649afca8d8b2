// Garbage is collected under pressure, and what nobody holds is told to the registry.
let told = 0;
const registry = new FinalizationRegistry(() => told++);
const held = { a: 1 };
const references = [new WeakRef(held)];
for (let round = 0; round < 60; round++) {
  const garbage = { data: new Array(100_000).fill(round) };
  registry.register(garbage, round);
  references.push(new WeakRef(garbage));
  if (round % 10 === 0) await new Promise(setImmediate);
}
await new Promise((resolve) => setTimeout(resolve, 10));
console.log(references[0].deref() === held, told > 0, references.filter((reference) => reference.deref()).length < 55);
