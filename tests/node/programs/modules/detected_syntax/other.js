module.exports = { common: typeof require };
