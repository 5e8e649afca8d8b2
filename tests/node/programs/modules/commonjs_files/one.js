exports.early = true;
exports.two = require('./two');
