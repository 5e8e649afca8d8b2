module.exports = 'directory';
