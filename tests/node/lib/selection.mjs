// Which tests somebody asked for (tests/node/run), and the servers that they need.
import { wantedVersions } from './versions.mjs';
import { serverFor, ways } from './ways.mjs';

const words = (process.env.NODE_BATTERY_VERSIONS ?? '').split(' ').filter(Boolean);
const filter = new RegExp(process.env.NODE_BATTERY_FILTER ?? '');

// { version, prefix } of each Node.js to test with.
export const versions = wantedVersions(words);

// Whether a test is wanted, by what its name is matched with.
export const wanted = (version, way, name) => filter.test(`${version} ${way} ${name}`);

// { version, way } of every test of this name that is wanted.
export const chosenTests = (name) =>
  versions.flatMap(({ version }) => ways.filter((way) => wanted(version, way, name)).map((way) => ({ version, way })));

// Servers that start when they are needed: one per way. A way may be used under several names, with a server for each.
export function serversByWay() {
  const servers = new Map();
  return {
    get(way, name = way) {
      if (!servers.has(name)) servers.set(name, serverFor(way));
      return servers.get(name);
    },
    async stop() {
      for (const server of servers.values()) await (await server).stop();
    },
  };
}
