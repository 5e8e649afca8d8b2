// There is no permission model unless asked for, source maps are off, and no listener was added by anybody.
console.log(
  process.permission,
  process.sourceMapsEnabled,
  process.connected,
  process.channel,
  process.send,
  process.mainModule,
  process.domain,
);
console.log(process.exitCode, process._exiting, process._events && Object.keys(process._events));
