// Warnings go to stderr, once each with a code.
// stderr: yes
process.emitWarning('plain');
process.emitWarning('with detail', { type: 'OwnWarning', code: 'OWN001', detail: 'more to say' });
process.emitWarning('deprecated', 'DeprecationWarning', 'DEP_OWN');
process.emitWarning(Object.assign(new Error('an error'), { name: 'ErrorWarning' }));
process.on('warning', (warning) => console.log(warning.name, warning.code, warning.message));
