// The file that tells the injector what to do and what has happened since; injector.cc has the same layout.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants } from 'node:os';

const nameSize = 24;
const callSize = 32;
const headSize = 64;
const capacity = 200_000;

const special = { short: 0, SIGKILL: -1 };

const string = (bytes, at) => bytes.toString('latin1', at, at + nameSize).replace(/\0.*$/s, '');
const call = (bytes, at) => ({ name: string(bytes, at), site: bytes.readBigUInt64LE(at + nameSize) });

export class Plan {
  constructor(program) {
    this.path = `${program}.faults`;
  }

  // Every call of the next run is written down.
  record() {
    this.#write({ name: '', nth: 0, error: 0, capacity });
  }

  // The nth call `name` of the next run fails with `error`, or is short, or is the last thing that the process wants to do.
  set({ name, nth, error }) {
    this.#write({ name, nth, error: special[error] ?? constants.errno[error], capacity: 0 });
  }

  remove() {
    rmSync(this.path, { force: true });
  }

  #write({ name, nth, error, capacity: calls }) {
    const bytes = Buffer.alloc(headSize + callSize * Math.max(1, calls));
    bytes.write(name, 'latin1');
    bytes.writeUInt32LE(nth, 32);
    bytes.writeInt32LE(error, 36);
    bytes.writeUInt32LE(calls, 40);
    rmSync(this.path, { force: true }); // a process of an earlier run may still have the old one
    writeFileSync(this.path, bytes);
  }

  // { fired, site, calls }: whether and where the fault came about, and what was recorded.
  read() {
    const bytes = readFileSync(this.path);
    const calls = [];
    for (let i = 0; i < Math.min(bytes.readUInt32LE(52), bytes.readUInt32LE(40)); ++i) calls.push(call(bytes, headSize + callSize * i));
    return { fired: bytes.readUInt32LE(48) === 1, site: call(bytes, 0).site, calls };
  }
}
