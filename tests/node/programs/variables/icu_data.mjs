// NODE_ICU_DATA that is not there.
// env: {"NODE_ICU_DATA": "/tmp"}
console.log(new Intl.NumberFormat('de').format(1.5), process.versions.icu.length > 0);
