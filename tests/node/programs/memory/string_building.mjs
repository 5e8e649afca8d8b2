// Strings that grow large, and are cut.
// host: yes
let text = '';
for (let i = 0; i < 300_000; i++) text += String.fromCharCode(97 + (i % 26));
console.log(
  text.length,
  text.slice(-5),
  text.split('z').length,
  [...text.matchAll(/xyz/g)].length,
  text.replaceAll('a', '').length,
  new Set(text).size,
);
