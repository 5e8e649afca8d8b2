// Limits that an operator gives to some images (image-limits).
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { cli } from './lib/belljar.mjs';
import { connect } from './lib/client.mjs';

const BELLJAR_IMAGE_LIMITS = 'node:lts-slim=memory:96m,pids:40; node:*=memory:300m';
const start = async (t, more = {}) => {
  const client = await connect({ env: { BELLJAR_IMAGE: 'node:lts-slim', BELLJAR_IMAGE_LIMITS, ...more } });
  t.after(() => client.close());
  return client;
};
const ownMemory = 'console.log("memory", process.constrainedMemory())';
const fill = (mebibytes) => `const all = []; for (let i = 0; i < ${mebibytes}; i += 16) all.push(Buffer.alloc(16 << 20, 1)); console.log("filled")`;
const has = async (run, mebibytes) => assert.match((await run).text, new RegExp(`^memory ${mebibytes << 20}$`, 'm'));

describe('an image with limits of its own', () => {
  test('has them in every kind of sandbox, and others have theirs', async (t) => {
    const client = await start(t);
    await has(client.run(ownMemory), 96);
    await has((await client.session(t)).run(ownMemory), 96);
    await has(client.run(ownMemory, { image: 'node:lts' }), 300);
  });

  test('has them enforced by the kernel', async (t) => {
    const client = await start(t);
    const killed = await client.call('run_js_ephemeral', { code: fill(192) });
    assert.equal(killed.oomKilled, true, killed.text);
    assert.match(killed.text, /may use 96 MiB\. Ask for more with "limits": \{"memory": "192m"\}/);
    assert.match((await client.run(fill(192), { image: 'node:lts' })).text, /filled/);
    const forks = await client.run(`import { spawn } from 'node:child_process';
      const children = Array.from({ length: 60 }, () => spawn('/bin/sleep', ['100']).on('error', () => {}));
      console.log("children", children.filter((child) => child.pid).length);
      for (const child of children) child.kill();`);
    assert.ok(Number(/children (\d+)/.exec(forks.text)[1]) < 40, forks.text);
  });

  test('gives way to what a call asks for, up to the maximum', async (t) => {
    const client = await start(t, { BELLJAR_MAX_MEMORY: '200m' });
    await has(client.run(ownMemory, { limits: { memory: '160m' } }), 160);
    const refused = await client.call('run_js_ephemeral', { code: '1', limits: { memory: '250m' } });
    assert.match(refused.text, /"limits\.memory" is 250 MiB; a sandbox of node:lts-slim may have at most 200 MiB/);
    // What the operator gave to an image counts more than what is for all.
    await has(client.run(ownMemory, { image: 'node:lts', limits: { memory: '300m' } }), 300);
  });
});

describe('image-limits', () => {
  test('count for `belljar run`, too', async () => {
    const { stdout, stderr } = await cli(['run', '--image', 'node:lts-slim', '-e', ownMemory], { env: { BELLJAR_IMAGE_LIMITS } });
    assert.equal(stdout, `memory ${96 << 20}\n`, stderr);
  });

  test('are shown by `belljar config`', async () => {
    const { stdout } = await cli(['config'], { env: { BELLJAR_IMAGE_LIMITS } });
    assert.match(stdout, /^image-limits = "node:lts-slim=memory:96m,pids:40; node:\*=memory:300m" +# BELLJAR_IMAGE_LIMITS: /m);
  });

  test('that cannot be read are refused at start, with their place', async () => {
    const { code, stderr } = await cli(['mcp'], { env: { BELLJAR_IMAGE_LIMITS: 'node:lts=memory:1g; node:20=memory:lots' } });
    assert.notEqual(code, 0);
    assert.match(stderr, /BELLJAR_IMAGE_LIMITS is .*: entry 2: "memory" is "lots", not a size such as 512m/);
  });
});
