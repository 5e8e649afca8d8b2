// The language of the surroundings.
// env: {"LC_ALL": "de_DE.UTF-8", "LANG": "de_DE.UTF-8"}
// host: yes
console.log(
  Intl.DateTimeFormat().resolvedOptions().locale,
  (1234.5).toLocaleString(),
  new Date(0).toLocaleDateString(undefined, { month: 'long', timeZone: 'UTC' }),
  navigator.language,
);
