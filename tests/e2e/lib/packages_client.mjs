// A client for programs with dependencies, which are given as { name: version }.
//
//   const client = await connect({ npm_config_registry: url });
//   const result = await client.run(code, { lodash: '^4' }, moreArguments, { onprogress, signal });
import { connect as connectClient } from './client.mjs';

export const list = (packages) => Object.entries(packages).map(([name, version]) => ({ name, version }));

export async function connect(env = {}) {
  const client = await connectClient({ env });
  const run = (code, packages = {}, more = {}, options = {}) =>
    client.call('run_js_ephemeral', { code, dependencies: list(packages), ...more }, options);
  return { ...client, run };
}
