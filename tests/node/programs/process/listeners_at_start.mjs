// Nobody listens to process when the program starts but who always does.
console.log(process.eventNames(), process.getMaxListeners());
for (const name of process.eventNames()) console.log(name, process.listenerCount(name), process.listeners(name).map(String));
for (const name of ['exit', 'beforeExit', 'uncaughtException', 'unhandledRejection', 'warning', 'SIGTERM', 'SIGINT', 'message'])
  console.log(name, process.listenerCount(name));
