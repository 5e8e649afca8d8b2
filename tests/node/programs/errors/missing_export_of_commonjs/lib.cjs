module.exports = { ['hid' + 'den']: 1 };
