// The engine's API for tests, over its unix socket: belljar's own client is what is tested.
import { request } from 'node:http';
import { text } from 'node:stream/consumers';

// Resolves with { status, body }. `body` of the request: an object is sent as JSON, a stream as a tar archive.
export function call(socketPath, method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const isStream = typeof body?.pipe === 'function';
    const type = isStream ? 'application/x-tar' : 'application/json';
    const outgoing = request({ socketPath, method, path, headers: { 'Content-Type': type, ...headers } }, (answer) => {
      text(answer).then((said) => resolve({ status: answer.statusCode, body: said }), reject);
    });
    outgoing.on('error', reject);
    if (isStream) body.pipe(outgoing);
    else outgoing.end(body === undefined ? '' : JSON.stringify(body));
  });
}

// The same, for what must work. Engines also say in a body with status 200 that something has failed.
export async function must(socketPath, method, path, body, headers) {
  const answer = await call(socketPath, method, path, body, headers);
  if (answer.status >= 300 || /"error(Detail)?":/.test(answer.body)) throw new Error(`${method} ${path}: ${answer.status} ${answer.body.slice(-500)}`);
  return answer.body;
}

// The containers that belljar has made. Podman may know half of one that is removed while it is made, and lists nothing until that
// is removed, too; belljar does the same at its start.
export async function listOurs(socket) {
  for (;;) {
    const { status, body } = await call(socket, 'GET', `/v1.41/containers/json?all=1&filters=${encodeURIComponent('{"label":["belljar.run"]}')}`);
    if (status === 200) return JSON.parse(body);
    const [, id] = /([0-9a-f]{64}).*container not known/.exec(body) ?? [];
    if (!id) throw new Error(`containers cannot be listed: ${status} ${body}`);
    await must(socket, 'DELETE', `/v1.41/containers/${id}?force=1`);
  }
}
