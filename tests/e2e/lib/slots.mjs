// Slots (launcher/slot.h): what on this host belongs to the sandboxes of one launcher, told by a lock, user ids and control
// groups. Other servers have others at the same time, and may take a slot once its launcher is gone.
import { existsSync, statSync } from 'node:fs';

import { cgroupMounts, namesIn, targetOf, textOf } from './proc.mjs';

const firstId = 0x60000000; // kFirstId and kIdsPerSlot of slot.h
const idsPerSlot = 65536;
const idsPerSandbox = 16; // the first is init's, the second the programs'

export const lockOf = (slot) => `/run/belljar/${slot}.lock`; // root's

// The locks that a process has open, its own and those it only looks at: [{ lock, slot }].
export const openLocks = (pid) =>
  namesIn(`/proc/${pid}/fd`).map((fd) => targetOf(`/proc/${pid}/fd/${fd}`)).flatMap((lock) => {
    const slot = /\/belljar(?:-\d+)?\/(\d+)\.lock$/.exec(lock)?.[1];
    return slot === undefined ? [] : [{ lock, slot: Number(slot) }];
  });

// The process that holds a lock, or undefined.
export function holderOf(lock) {
  const inode = statSync(lock, { throwIfNoEntry: false })?.ino;
  const holder = inode && new RegExp(`FLOCK +ADVISORY +WRITE (\\d+) \\S+:${inode} `).exec(textOf('/proc/locks'))?.[1];
  return holder === undefined ? undefined : Number(holder);
}

// Whether root's slot has a user id, and for what: 'init', 'program' or undefined.
export function roleIn(slot, uid) {
  const id = uid - firstId - slot * idsPerSlot;
  if (!(id >= 0 && id < idsPerSlot)) return undefined;
  return id % idsPerSandbox === 0 ? 'init' : 'program';
}

// The uppermost directories of a slot's control groups.
export const cgroupRootsOf = (slot) => cgroupMounts.map((mount) => `${mount}/belljar/${slot}`).filter((path) => existsSync(path));
