// What the host sees: processes, control groups, mounts, memory.
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

const orElse = (otherwise, look) => {
  try {
    return look();
  } catch {
    return otherwise; // the process has ended meanwhile, or the descriptor was closed
  }
};
// What is in a file, where a link leads, what is in a directory: nothing if it is gone.
export const textOf = (path) => orElse('', () => readFileSync(path, 'utf8'));
export const targetOf = (link) => orElse('', () => readlinkSync(link));
export const namesIn = (directory) => orElse([], () => readdirSync(directory));
export const directoriesIn = (directory) =>
  orElse([], () => readdirSync(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory()).map(({ name }) => name);

export const pids = () => readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number);

export function processes() {
  const found = [];
  for (const pid of pids()) {
    const stat = textOf(`/proc/${pid}/stat`);
    if (!stat) continue;
    const after = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    found.push({
      pid,
      ppid: Number(after[1]),
      state: after[0],
      name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      commandLine: textOf(`/proc/${pid}/cmdline`).replaceAll('\0', ' '),
    });
  }
  return found;
}

// Living processes that have the word in their command line.
export const processesWith = (word) =>
  processes().filter((process) => process.state !== 'Z' && process.commandLine.includes(word));

export function descendants(pid) {
  const all = processes();
  const found = [];
  const visit = (parent) => {
    for (const process of all) {
      if (process.ppid === parent) {
        found.push(process);
        visit(process.pid);
      }
    }
  };
  visit(pid);
  return found;
}

// The living npm processes in the sandboxes of a server. npm renames itself once it runs.
export const npmProcesses = (server) =>
  descendants(server).filter(({ state, commandLine }) => state !== 'Z' && /npm-cli\.js|^npm install/.test(commandLine));

// The directories of the control groups that were made for the sandbox a process is in: belljar/SERVER/SANDBOX…; what
// is above them belongs to the server and lives as long as it does.
export function controlGroups(pid) {
  const own = new Set(textOf('/proc/self/cgroup').trim().split('\n'));
  const found = [];
  for (const line of textOf(`/proc/${pid}/cgroup`).trim().split('\n')) {
    if (own.has(line)) continue;
    const [, controllers, path] = line.split(/^\d+:([^:]*):/);
    if (!/^\/.*belljar\/[^/]+\/[^/]+/.test(path)) continue;
    const name = controllers.replace('name=', '');
    for (const mount of [`/sys/fs/cgroup/${name}`, '/sys/fs/cgroup/unified', '/sys/fs/cgroup']) {
      if (existsSync(mount + path)) {
        found.push(mount + path);
        break;
      }
    }
  }
  return found;
}

// Where the hierarchies of control groups are mounted.
export const cgroupMounts = [...textOf('/proc/self/mountinfo').matchAll(/^(?:\S+ ){4}(\S+) .* - cgroup2? /gm)].map(([, point]) => point);

// Mounts that the host itself sees and that belljar might have made.
export const mounts = () =>
  textOf('/proc/self/mountinfo').split('\n').filter((line) => line.includes('belljar')).length;

// A field of /proc/PID/status in bytes: VmRSS, VmHWM.
export function memory(pid, field) {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(textOf(`/proc/${pid}/status`));
  return match ? Number(match[1]) * 1024 : undefined;
}

// Proportional set size of a process in bytes.
export function pss(pid) {
  const match = /^Pss:\s+(\d+) kB/m.exec(textOf(`/proc/${pid}/smaps_rollup`));
  return match ? Number(match[1]) * 1024 : 0;
}
