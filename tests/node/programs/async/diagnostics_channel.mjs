// Channels of diagnostics, of the program's own and of Node.js.
// host: yes
import diagnostics from 'node:diagnostics_channel';
const channel = diagnostics.channel('own');
console.log(channel.hasSubscribers);
diagnostics.subscribe('own', (message, name) => console.log(message, name));
channel.publish({ a: 1 });
const tracing = diagnostics.tracingChannel('traced');
tracing.subscribe({
  start: () => console.log('start'),
  end: () => console.log('end'),
  error: ({ error }) => console.log('error', error.message),
});
try {
  tracing.traceSync(() => {
    throw new Error('x');
  });
} catch {}
console.log(
  tracing.traceSync((a) => a * 2, {}, null, 4),
  diagnostics.hasSubscribers('http.client.request.start'),
);
