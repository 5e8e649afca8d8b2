// Causes, and errors of many errors.
// exit: 1
// stderr: yes
const inner = new TypeError('inner', { cause: { code: 5 } });
throw new AggregateError([inner, new Error('second', { cause: inner }), 'text'], 'several', { cause: inner });
