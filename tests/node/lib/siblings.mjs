// Random values of programs that are copies of one Node.js: no two may have one in common.
import { belljarOutcome } from './outcomes.mjs';
import { makeProgram } from './programs.mjs';

// Prints values that no other run may have; each in a line, after its name. The names of temporary directories are so short
// that two of ten thousand may well be the same: two together are compared.
const randomValues = `import crypto from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import vm from 'node:vm';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
const worker = new Worker("require('node:worker_threads').parentPort.postMessage(Math.random())", { eval: true });
const values = {
  'Math.random': Math.random(),
  'the second Math.random': Math.random(),
  'the hundredth Math.random': Array.from({ length: 98 }, Math.random).at(-1),
  'Math.random of another context': vm.runInNewContext('Math.random()'),
  'Math.random of a worker': (await once(worker, 'message'))[0],
  randomBytes: crypto.randomBytes(16).toString('hex'),
  randomUUID: crypto.randomUUID(),
  'randomUUID without a cache': crypto.randomUUID({ disableEntropyCache: true }),
  randomInt: crypto.randomInt(2 ** 47),
  getRandomValues: crypto.getRandomValues(new Uint32Array(4)).join(),
  'a key': crypto.generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'der' }).toString('hex'),
  'a secret key': crypto.generateKeySync('aes', { length: 256 }).export().toString('hex'),
  'a prime': crypto.generatePrimeSync(64, { bigint: true }),
  'temporary directories': mkdtempSync('/tmp/') + mkdtempSync('/tmp/'),
};
for (const [name, value] of Object.entries(values)) console.log(name + '=' + value);`;

const atATime = 8;

export class Siblings {
  runs = 0;
  byName = new Map(); // how many values there were, by what they are
  repeated = []; // "NAME=VALUE" of what another run had, too
  #seen = new Set();
  #program;

  constructor(code = randomValues) {
    this.#program = makeProgram('siblings', '.mjs', code);
  }

  // Adds so many runs of that server, each started in that way. `report` is called after each.
  async add(server, version, way, count, report = () => {}) {
    let left = count;
    const work = async () => {
      while (left-- > 0) {
        const { outcome, start } = await belljarOutcome(server, version, this.#program);
        if (outcome.exitCode !== 0) throw new Error(outcome.stderr);
        if (start !== way) throw new Error(`a program was started by ${start}, not ${way}`);
        this.#take(outcome.stdout);
        report();
      }
    };
    await Promise.all(Array.from({ length: atATime }, work));
  }

  #take(output) {
    this.runs++;
    for (const line of output.trim().split('\n')) {
      const [, name, value] = /^([^=]+)=(.+)$/.exec(line);
      this.byName.set(name, (this.byName.get(name) ?? 0) + 1);
      if (this.#seen.has(value)) this.repeated.push(line);
      this.#seen.add(value);
    }
  }
}
