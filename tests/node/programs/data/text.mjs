// Encodings and the languages of the world.
// host: yes
console.log(
  new TextDecoder('utf-16le').decode(new Uint8Array([0x41, 0, 0xac, 0x20])),
  new TextDecoder('shift_jis').decode(new Uint8Array([0x83, 0x65])),
  new TextEncoder().encode('é'),
  new TextDecoder().decode(new Uint8Array([0xff])),
);
try {
  new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([0xff]));
} catch (error) {
  console.log(error.code, error.message);
}
console.log(
  'ß'.toUpperCase(),
  'İ'.toLowerCase().length,
  'é'.normalize('NFD').length,
  ['ä', 'z', 'a'].sort(new Intl.Collator('de').compare),
  'a'.localeCompare('B'),
);
console.log(
  new Intl.NumberFormat('de-DE', { style: 'currency', currency: 'EUR' }).format(1234.5),
  new Intl.PluralRules('ru').select(3),
  [...new Intl.Segmenter('en', { granularity: 'word' }).segment('Two words')].length,
);
console.log(
  new Intl.ListFormat('en').format(['a', 'b', 'c']),
  new Intl.RelativeTimeFormat('fr').format(-1, 'day'),
  Intl.DateTimeFormat().resolvedOptions(),
  new Intl.DisplayNames('en', { type: 'region' }).of('JP'),
);
