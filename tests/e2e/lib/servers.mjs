// Programs that serve a published port from a sandbox. They have the name `port`.
import { freePort } from './ports.mjs';

export const hello = "import http from 'node:http'; http.createServer((_, answer) => answer.end('hello')).listen(port);";

// What such a server answers.
export const get = (port) => fetch(`http://127.0.0.1:${port}/`).then((answer) => answer.text());

// Starts `code` as a server in a session of its own, which ends with the test `t`: { session, port, result }.
export async function startServer(client, t, code, more = {}) {
  const session = await client.session(t);
  const port = await freePort();
  const result = await session.run(`const port = ${port};\n${code}`, { listenOnPort: port, timeoutMs: 10_000, ...more });
  return { session, port, result };
}
