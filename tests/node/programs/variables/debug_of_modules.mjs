// NODE_DEBUG makes a part of Node.js talk; only whether it does is compared.
import { spawnSync } from 'node:child_process';
const { stderr } = spawnSync(process.execPath, ['-e', "require('node:http')"], {
  env: { ...process.env, NODE_DEBUG: 'module,esm' },
  encoding: 'utf8',
});
console.log(/^MODULE \d+: /m.test(stderr), process.env.NODE_DEBUG);
