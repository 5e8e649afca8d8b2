// The inspector: nobody listens, and a session of the program's own works.
import inspector from 'node:inspector';
import { Session } from 'node:inspector/promises';
console.log(inspector.url(), typeof inspector.waitForDebugger);
const session = new Session();
session.connect();
const { result } = await session.post('Runtime.evaluate', { expression: '6 * 7' });
console.log(result);
await session.post('Profiler.enable');
await session.post('Profiler.start');
for (let i = 0, x = 0; i < 1e6; i++) x += i;
const { profile } = await session.post('Profiler.stop');
console.log(profile.nodes.length > 0, Object.keys(profile));
await session.post('NoSuch.method').catch((error) => console.log(error.message));
session.disconnect();
