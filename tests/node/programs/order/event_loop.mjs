// Nothing keeps the program once its handles are gone, and an unreferenced server does not.
// host: yes
import net from 'node:net';
const server = net.createServer().listen(0, '127.0.0.1', () => {
  console.log(process.getActiveResourcesInfo());
  server.unref();
});
process.on('beforeExit', () => console.log('before exit', process.getActiveResourcesInfo()));
