// Nothing keeps the program alive when it starts; process.getActiveResourcesInfo says so.
console.log(process.getActiveResourcesInfo());
setTimeout(() => console.log('timer'), 1);
console.log(process.getActiveResourcesInfo(), process._getActiveHandles().length, process._getActiveRequests().length);
