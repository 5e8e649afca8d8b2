// The values of the plain properties of process.
const {
  version,
  versions,
  arch,
  platform,
  release,
  features,
  config,
  exitCode,
  debugPort,
  argv0,
  noDeprecation,
  throwDeprecation,
  traceDeprecation,
} = process;
console.log({
  version,
  versions,
  arch,
  platform,
  release,
  features,
  exitCode,
  debugPort,
  argv0,
  noDeprecation,
  throwDeprecation,
  traceDeprecation,
});
console.log(JSON.stringify(config));
console.log([...process.allowedNodeEnvironmentFlags].join(' '));
