// unhandledRejection and rejectionHandled, when somebody listens.
process.on('unhandledRejection', (reason, promise) => console.log('unhandled', reason.message, promise instanceof Promise));
process.on('rejectionHandled', (promise) => console.log('handled', promise instanceof Promise));
const promise = Promise.reject(new Error('late'));
setTimeout(() => promise.catch((error) => console.log('caught', error.message)), 5);
