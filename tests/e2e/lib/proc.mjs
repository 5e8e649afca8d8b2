// What the host sees: processes, control groups, mounts, memory.
import { readdirSync, readFileSync, existsSync } from 'node:fs';

const read = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // the process has ended meanwhile
  }
};

export function processes() {
  const found = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = read(`/proc/${name}/stat`);
    if (!stat) continue;
    const after = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    found.push({
      pid: Number(name),
      ppid: Number(after[1]),
      state: after[0],
      name: stat.slice(stat.indexOf('(') + 1, stat.lastIndexOf(')')),
      commandLine: read(`/proc/${name}/cmdline`).replaceAll('\0', ' '),
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
  const own = new Set(read('/proc/self/cgroup').trim().split('\n'));
  const found = [];
  for (const line of read(`/proc/${pid}/cgroup`).trim().split('\n')) {
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

// Mounts that the host itself sees and that belljar might have made.
export const mounts = () =>
  read('/proc/self/mountinfo').split('\n').filter((line) => line.includes('belljar')).length;

// A field of /proc/PID/status in bytes: VmRSS, VmHWM.
export function memory(pid, field) {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(read(`/proc/${pid}/status`));
  return match ? Number(match[1]) * 1024 : undefined;
}

// Proportional set size of a process in bytes.
export function pss(pid) {
  const match = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`));
  return match ? Number(match[1]) * 1024 : 0;
}
