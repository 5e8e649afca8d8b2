// The launcher of a server and what it has on this host: its slot (e2e/lib/slots.mjs), processes, control groups.
import { descendants, directoriesIn, namesIn, processes, targetOf, textOf } from '../../e2e/lib/proc.mjs';
import { cgroupRootsOf, holderOf, openLocks, roleIn } from '../../e2e/lib/slots.mjs';

// The launcher of a server and the keeper of the launcher; undefined while there is none. Before it has become the first
// process of its own pid namespace, it is not the launcher yet but what will be the keeper.
const isFirst = (pid) => /^NSpid:\t\d+\t1$/m.test(textOf(`/proc/${pid}/status`));
export const launcherOf = (server) => descendants(server).find(({ pid, name }) => name.startsWith('belljar-launch') && isFirst(pid))?.pid;
export const keeperOf = (server) => descendants(server).find(({ name }) => name === 'belljar-keeper')?.pid;

// The slot that a launcher holds. While it looks for a free one, it opens those of others, too.
export const slotOf = (launcher) => openLocks(launcher).find(({ lock }) => holderOf(lock) === launcher)?.slot;

// Directories of control groups of a slot, in all hierarchies.
export function controlGroupsOf(slot) {
  const found = [];
  const visit = (path) => {
    found.push(path);
    for (const name of directoriesIn(path)) visit(`${path}/${name}`);
  };
  cgroupRootsOf(slot).forEach(visit);
  return found;
}

// A process without memory runs nothing any more. The init of a sandbox is so while it waits, in the kernel, for the
// host's pid 1 to reap the programs of a launcher that was killed.
export const isDead = ({ pid, state }) => state === 'Z' || state === 'X' || !/^[1-9]/.test(textOf(`/proc/${pid}/statm`));

// Zygotes have numbers of sandboxes that no sandbox has (launcher/launcher_nodes.cc). Copies begin in the group of their
// zygote, but in the pid namespace of their sandbox.
const isInZygoteGroup = (group) => group !== undefined && BigInt(group.slice(1)) >= 2n ** 63n;
const isCopy = (pid) => /^NSpid:(\t\d+){3}/m.test(textOf(`/proc/${pid}/status`));

// Living processes of the sandboxes of a slot, and its zygotes, by user id or control group: { pid, name, isInit, isZygote, group }.
export function sandboxedIn(slot) {
  const found = [];
  for (const { pid, name, state } of processes()) {
    const role = roleIn(slot, Number(/^Uid:\t(\d+)/m.exec(textOf(`/proc/${pid}/status`))?.[1]));
    const group = new RegExp(`/belljar/${slot}/(s\\d+)`).exec(textOf(`/proc/${pid}/cgroup`))?.[1];
    const isZygote = isInZygoteGroup(group) && !isCopy(pid);
    if ((role || group) && !isDead({ pid, state })) found.push({ pid, name, group, isInit: role === 'init' && !isInZygoteGroup(group), isZygote });
  }
  return found;
}

export const networksOf = (pids) => new Set(pids.map((pid) => targetOf(`/proc/${pid}/ns/net`)).filter(Boolean)).size;
export const descriptorsOf = (pid) => namesIn(`/proc/${pid}/fd`).length;
// Those that we have too are the host's: others mount there while this runs.
export const mountsOf = (pid) => {
  const ours = new Set(textOf('/proc/self/mountinfo').split('\n'));
  return textOf(`/proc/${pid}/mountinfo`).split('\n').filter((line) => !ours.has(line)).length;
};
