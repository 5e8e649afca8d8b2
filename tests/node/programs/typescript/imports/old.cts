module.exports = { kind: 'common' as const, file: __filename };
