// NODE_NO_WARNINGS silences them, but not the event.
// env: {"NODE_NO_WARNINGS": "1"}
process.on('warning', ({ message }) => console.log(message));
process.emitWarning('only the event');
