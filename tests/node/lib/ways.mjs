// The ways in which belljar starts a program. Each must be as good as executing Node.js.
import { Server } from '../../e2e/lib/stdio.mjs';

// What makes a server start every program in that way.
const settings = {
  exec: { BELLJAR_NODE_START: 'exec' },
  fork: { BELLJAR_NODE_START: 'fork' },
  'parked-fork': { BELLJAR_NODE_START: 'parked' },
  'parked-exec': { BELLJAR_NODE_START: 'parked-exec' },
};

// Variables that are read when Node.js or a library of it starts: who sets one gets a Node.js that starts.
const readAtStart = /^(NODE_|LD_|UV_|OPENSSL_|SSL_|ICU_|LC_|LANG|MALLOC|GLIBC_|GCONV_|LOCPATH)/;

// The way in which that server starts the program.
export const wayOf = (program, way) => (Object.keys(program.env).some((name) => readAtStart.test(name)) ? 'exec' : way);

// Programs that see that they are a copy, and what they see. Everything else must be the same.
const seen = {
  'async/hooks': 'ids of async_hooks go on from those of the zygote',
  'async/ids_at_top_level_commonjs': 'ids of async_hooks go on from those of the zygote',
  'engine/thread_pool': 'threads are started when there is work for them',
  'engine/thread_pool_size_by_program': 'threads are started when there is work for them',
  'memory/pressure': 'when garbage is collected depends on what the heap has seen',
  'process/auxiliary_vector': 'the kernel shows as whom the zygote was executed',
  'process/descriptors_run_out': 'fewer descriptors are open: there are no threads yet',
  'process/environment_of_kernel': '/proc/self/environ shows the variables that all programs have',
  'process/event_poll': 'descriptors have other numbers',
  'process/mappings': 'a library is loaded',
  'process/masks_of_threads': 'threads are started when there is work for them',
  'process/names_of_threads': 'threads are started when there is work for them',
  'process/next_descriptors': 'descriptors have other numbers',
  'process/open_descriptors': 'descriptors have other numbers',
  'process/status_of_kernel': 'threads are started when there is work for them',
  'signals/sigusr1': 'SIGUSR1 does not start the inspector',
};
// Those that see that the process was there before its program.
const seenIfParked = {
  'engine/age': 'the kernel shows when the process was made',
};
export const isComparable = ({ name }, way) => way === 'exec' || !(name in seen || (way.startsWith('parked') && name in seenIfParked));

export const ways = Object.keys(settings);

// A server that starts programs in that way.
export async function serverFor(way) {
  const server = Server.start(null, { env: settings[way] });
  await server.initialize();
  return server;
}
