module.exports = { seen: { ...require('./one') }, parent: module.parent.id };
