// The same for CommonJS, where nothing was awaited before.
console.log(process.getActiveResourcesInfo(), process._getActiveHandles().length, process._getActiveRequests().length);
process.stdin.on('data', () => {});
console.log(process.getActiveResourcesInfo());
process.stdin.destroy();
