// Large structures are written, read and sorted alike.
// host: yes
const list = Array.from({ length: 20_000 }, (_, i) => ({ id: (i * 7919) % 20_011, text: `n${i}`, nested: [i, { half: i / 2 }] }));
const copy = JSON.parse(JSON.stringify(list));
copy.sort((one, other) => one.id - other.id);
console.log(copy[0], copy.at(-1), JSON.stringify(copy).length, JSON.stringify({ b: [1, { c: 2 }] }, null, 2));
