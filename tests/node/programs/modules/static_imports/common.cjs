console.log('common', typeof require, module.id, module.parent?.id, require.main === module, require.main?.filename);
exports.named = 'named';
exports.file = __filename;
