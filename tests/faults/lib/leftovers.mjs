// What one pair of programs has left on the host: processes, slots, cgroups.
import { existsSync, readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';

const read = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
const target = (link) => {
  try {
    return readlinkSync(link);
  } catch {
    return '';
  }
};
const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name));
const cgroupMounts = [...read('/proc/self/mountinfo').matchAll(/^(?:\S+ ){4}(\S+) .* - cgroup2? /gm)].map(([, point]) => point);
const slots = '/run/belljar';
const lockOf = (slot) => `${slots}/${slot}.lock`;

// Living processes that run a program in `directory` or descend from one: the launcher's copies keep its file.
export const processesOf = (directory) =>
  pids().filter((pid) => target(`/proc/${pid}/exe`).startsWith(`${directory}/`) && !/^State:\t[ZX]/m.test(read(`/proc/${pid}/status`)));

// The slot that a launcher in `directory` holds, if any.
export function slotOf(directory) {
  for (const pid of processesOf(directory)) {
    let descriptors = [];
    try {
      descriptors = readdirSync(`/proc/${pid}/fd`);
    } catch {
      continue; // it has ended
    }
    for (const fd of descriptors) {
      const match = /^\/run\/belljar\/(\d+)\.lock$/.exec(target(`/proc/${pid}/fd/${fd}`));
      if (match) return Number(match[1]);
    }
  }
  return undefined;
}

export function killAll(directory) {
  for (const pid of processesOf(directory)) process.kill(Number(pid), 'SIGKILL');
}

const isHeld = (slot) => {
  const inode = statSync(lockOf(slot), { throwIfNoEntry: false })?.ino;
  return inode !== undefined && new RegExp(`FLOCK +ADVISORY +WRITE \\d+ \\S+:${inode} `).test(read('/proc/locks'));
};

// Processes with the user ids of a slot's sandboxes; see slot.h.
const sandboxed = (slot) => {
  const first = 0x60000000 + slot * 65536;
  return pids().filter((pid) => {
    const match = /^State:\t[^ZX][^]*^Uid:\t(\d+)/m.exec(read(`/proc/${pid}/status`));
    return match && Number(match[1]) >= first && Number(match[1]) < first + 65536;
  });
};

// Names of a slot that nobody holds: its lock and its cgroups. Whatever another belljar holds is not ours.
export function namesOf(slot) {
  if (slot === undefined || isHeld(slot)) return [];
  return [lockOf(slot), ...cgroupMounts.map((mount) => `${mount}/belljar/${slot}`)].filter((path) => existsSync(path));
}

// What must be gone soon after the end of the programs in `directory`, however they ended.
export const livesOn = (directory, slot) =>
  [...processesOf(directory), ...(slot === undefined || isHeld(slot) ? [] : sandboxed(slot))].map((pid) => `${pid} ${read(`/proc/${pid}/comm`).trim()}`);
