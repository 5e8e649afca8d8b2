// A zone that does not exist.
// env: {"TZ": "Nowhere/Land"}
console.log(new Date(0).toString(), new Date(0).getTimezoneOffset(), Intl.DateTimeFormat().resolvedOptions().timeZone);
