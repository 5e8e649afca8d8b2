// Verdaccio as a process of its own: registry_server.mjs CONFIG. Tells its parent the port that the kernel chose, and ends
// when the parent does, however that happens.
import { runServer } from 'verdaccio';

process.on('disconnect', () => process.exit());
const server = await runServer(process.argv[2]);
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
