// What one pair of programs has left on the host: processes, slots, cgroups.
import { existsSync } from 'node:fs';

import { pids, targetOf, textOf } from '../../e2e/lib/proc.mjs';
import { cgroupRootsOf, holderOf, lockOf, openLocks, roleIn } from '../../e2e/lib/slots.mjs';

// Living processes that run a program in `directory` or descend from one: the launcher's copies keep its file.
export const processesOf = (directory) =>
  pids().filter((pid) => targetOf(`/proc/${pid}/exe`).startsWith(`${directory}/`) && !/^State:\t[ZX]/m.test(textOf(`/proc/${pid}/status`)));

// The slot that a launcher in `directory` holds, if any.
export const slotOf = (directory) => processesOf(directory).flatMap(openLocks)[0]?.slot;

export function killAll(directory) {
  for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL');
}

const isHeld = (slot) => holderOf(lockOf(slot)) !== undefined;

// Living processes with the user ids of a slot's sandboxes.
const sandboxed = (slot) =>
  pids().filter((pid) => {
    const uid = /^State:\t[^ZX][^]*^Uid:\t(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1];
    return roleIn(slot, Number(uid)) !== undefined;
  });

// Names of a slot that nobody holds: its lock and its cgroups. Whatever another belljar holds is not ours.
export function namesOf(slot) {
  if (slot === undefined || isHeld(slot)) return [];
  return [lockOf(slot), ...cgroupRootsOf(slot)].filter((path) => existsSync(path));
}

// What must be gone soon after the end of the programs in `directory`, however they ended.
export const livesOn = (directory, slot) =>
  [...processesOf(directory), ...(slot === undefined || isHeld(slot) ? [] : sandboxed(slot))].map((pid) => `${pid} ${textOf(`/proc/${pid}/comm`).trim()}`);
