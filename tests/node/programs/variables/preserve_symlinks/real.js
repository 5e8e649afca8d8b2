module.exports = __filename;
