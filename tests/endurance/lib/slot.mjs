// The slot of one launcher (launcher/slot.h): what on this host belongs to its sandboxes. Other servers may run at
// the same time, and may take the slot once its launcher is gone.
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

import { descendants, processes } from '../../e2e/lib/proc.mjs';

const firstId = 0x60000000; // kFirstId and kIdsPerSlot of slot.h
const idsPerSlot = 65536;
const idsPerSandbox = 16; // the first is init's
const locks = '/run/belljar';

const quietly = (look, otherwise) => {
  try {
    return look();
  } catch {
    return otherwise; // gone meanwhile
  }
};
const read = (path) => quietly(() => readFileSync(path, 'utf8'), '');
const list = (path) => quietly(() => readdirSync(path), []);
const link = (path) => quietly(() => readlinkSync(path), '');

const hierarchies = [...read('/proc/self/mountinfo').matchAll(/^(?:\S+ ){4}(\S+) .* - cgroup2? /gm)].map(([, point]) => point);
const isNumber = (name) => /^\d+$/.test(name);

// The launcher of a server and the keeper of the launcher; undefined while there is none. Before it has become the first
// process of its own pid namespace, it is not the launcher yet but what will be the keeper.
const isFirst = (pid) => /^NSpid:\t\d+\t1$/m.test(read(`/proc/${pid}/status`));
export const launcherOf = (server) => descendants(server).find(({ pid, name }) => name.startsWith('belljar-launch') && isFirst(pid))?.pid;
export const keeperOf = (server) => descendants(server).find(({ name }) => name === 'belljar-keeper')?.pid;

export const slotOf = (launcher) =>
  list(`/proc/${launcher}/fd`).map((fd) => link(`/proc/${launcher}/fd/${fd}`).match(/^\/run\/belljar\/(\d+)\.lock$/)?.[1])
    .filter(Boolean).map(Number)[0];

// The process that holds the lock of a slot, or undefined.
export function holderOf(slot) {
  const inode = quietly(() => statSync(`${locks}/${slot}.lock`).ino);
  const holder = inode && new RegExp(`FLOCK +ADVISORY +WRITE (\\d+) \\S+:${inode} `).exec(read('/proc/locks'))?.[1];
  return holder && Number(holder);
}

// Names of slots that nobody holds: locks and control groups.
export function abandoned() {
  const names = list(locks).filter((name) => name.endsWith('.lock')).map((name) => Number.parseInt(name, 10));
  const groups = hierarchies.flatMap((mount) => list(`${mount}/belljar`).filter(isNumber).map(Number));
  return [...new Set([...names, ...groups])].filter((slot) => holderOf(slot) === undefined);
}

// Directories of control groups of a slot, in all hierarchies.
export function controlGroupsOf(slot) {
  const found = [];
  const visit = (path) => {
    found.push(path);
    for (const entry of quietly(() => readdirSync(path, { withFileTypes: true }), [])) {
      if (entry.isDirectory()) visit(`${path}/${entry.name}`);
    }
  };
  for (const mount of hierarchies) if (existsSync(`${mount}/belljar/${slot}`)) visit(`${mount}/belljar/${slot}`);
  return found;
}

// A process without memory runs nothing any more. The init of a sandbox is so while it waits, in the kernel, for the
// host's pid 1 to reap the programs of a launcher that was killed.
export const isDead = ({ pid, state }) => state === 'Z' || state === 'X' || !/^[1-9]/.test(read(`/proc/${pid}/statm`));

// Living processes of the sandboxes of a slot, by user id or control group: { pid, name, isInit, group }.
export function sandboxedIn(slot) {
  const found = [];
  for (const { pid, name, state } of processes()) {
    const uid = Number(/^Uid:\t(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]) - firstId - slot * idsPerSlot;
    const group = new RegExp(`/belljar/${slot}/(s\\d+)`).exec(read(`/proc/${pid}/cgroup`))?.[1];
    const hasId = uid >= 0 && uid < idsPerSlot;
    if ((hasId || group) && !isDead({ pid, state })) found.push({ pid, name, group, isInit: hasId && uid % idsPerSandbox === 0 });
  }
  return found;
}

export const networksOf = (pids) => new Set(pids.map((pid) => link(`/proc/${pid}/ns/net`)).filter(Boolean)).size;
export const descriptorsOf = (pid) => list(`/proc/${pid}/fd`).length;
export const mountsOf = (pid) => read(`/proc/${pid}/mountinfo`).split('\n').length - 1;
