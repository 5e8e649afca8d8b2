// What a program finds about itself in its sandbox. The functions run inside; see jar.mjs.

// As Node.js sees it, with a worker and the thread pool running.
export async function collect() {
  const read = (path) => fs.readFileSync(path, 'utf8');
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
  await new Promise((resolve) => worker.on('online', resolve));
  await Promise.all(Array.from({ length: 8 }, () => fs.promises.readFile('/etc/passwd')));
  const field = (text, name) => new RegExp(`^${name}:[ \\t]*(.*?)[ \\t]*$`, 'm').exec(text)?.[1].replaceAll('\t', ' ');
  const perThread = ['Uid', 'Gid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp', 'Seccomp_filters'];
  const threads = fs.readdirSync('/proc/self/task').map((task) => {
    const status = read(`/proc/self/task/${task}/status`);
    return Object.fromEntries(perThread.map((name) => [name, field(status, name)]));
  });
  await worker.terminate();
  const mounts = read('/proc/self/mountinfo').trim().split('\n').map((line) => {
    const [, , , root, point, flags] = line.split(' ');
    const [type, , options] = line.slice(line.indexOf(' - ') + 3).split(' ');
    return { root, point, flags, type, options };
  });
  const device = ({ rdev }) => `${rdev >> 8 & 0xfff}:${rdev & 0xff}`;
  const kinds = { isDirectory: 'directory', isSymbolicLink: 'link', isCharacterDevice: 'device', isFile: 'file' };
  const describe = (path) => {
    const info = fs.lstatSync(path);
    const kind = Object.entries(kinds).find(([is]) => info[is]())?.[1] ?? 'other';
    return `${kind}${kind === 'device' ? ` ${device(info)}` : ''} ${(info.mode & 0o7777).toString(8)}`;
  };
  const list = (path) => Object.fromEntries(fs.readdirSync(path).sort().map((name) => [name, describe(`${path}/${name}`)]));
  const namespaces = Object.fromEntries(fs.readdirSync('/proc/self/ns').map((name) => [name, fs.readlinkSync(`/proc/self/ns/${name}`)]));
  return {
    threads, mounts, namespaces,
    procReachable: fs.readdirSync('/proc').filter((name) => !/^\d+$/.test(name)).filter((name) => ['r', 'r+'].some((mode) => attempt(() => fs.closeSync(fs.openSync(`/proc/${name}`, mode))).outcome === 'ok')),
    root: list('/'), dev: list('/dev'), environment: process.env,
    uidMap: read('/proc/self/uid_map'), gidMap: read('/proc/self/gid_map'),
    cgroups: read('/proc/self/cgroup'), workingDirectory: process.cwd(), hostname: os.hostname(),
    oomScoreAdjust: Number(read('/proc/self/oom_score_adj')), limits: read('/proc/self/limits'),
  };
}

// As a shell sees it, which changes less of what it was given than Node.js does.
export const shellCommand = `grep -E '^(Sig(Blk|Ign)|Umask):' /proc/self/status; for f in /proc/$$/fd/*; do
  [ -e "$f" ] && echo "fd \${f##*/} $(readlink "$f")"; done; echo "session $(cut -d' ' -f6 /proc/$$/stat) $$"`;

// The same without what differs from host to host and from run to run.
export function normalise(seen, shell, hostNamespaces) {
  const unique = [...new Set(seen.threads.map((thread) => JSON.stringify(thread)))].map((text) => JSON.parse(text));
  const visible = ['self', 'thread-self', 'mounts', 'net']; // links into the process's own directory
  const points = new Set(seen.mounts.map(({ point }) => point));
  const isMask = ({ point, root, flags }) =>
    point.startsWith('/proc/') && ['/blank', '/empty'].includes(root) && /^ro,nosuid,nodev/.test(flags);
  // What the host has mounted beneath its /usr is there, too, and no more to be written to than /usr.
  const isHosts = ({ point, flags }) => /^\/usr\/(?!local$)/.test(point) && /^ro,nosuid,nodev/.test(flags);
  const telling = /^(hidepid|subset|userxattr)/;
  const map = (text) => text.trim().split('\n').map((line) => line.trim().split(/\s+/)).map(([id, , count]) => `${count} from ${id}`);
  const rows = Object.fromEntries(seen.limits.trim().split('\n').slice(1).map((line) => line.split(/ {2,}/)).map(([name, soft, hard]) => [name, [soft, hard]]));
  rows['Max processes'] = 'the host\'s'; // the pids cgroup counts
  return {
    threads: unique,
    namespaces: Object.fromEntries(Object.entries(seen.namespaces).map(([name, id]) => [name, hostNamespaces[name] === id ? 'the host\'s' : 'own'])),
    mounts: seen.mounts.filter((mount) => !isMask(mount) && !isHosts(mount)).map(({ point, type, flags, options }) => {
      const kept = options.split(',').filter((option) => telling.test(option));
      const fileSystem = ['overlay', 'tmpfs', 'proc', 'devtmpfs'].includes(type) ? type : 'of the host';
      return [point, fileSystem, flags.replace(/,(rel|no)atime/g, ''), ...kept].join(' ');
    }),
    // Which entries a kernel has differs; all that can be opened are covered, or lead to the process itself.
    procReachableAndNotCovered: seen.procReachable.filter((name) => !visible.includes(name) && !points.has(`/proc/${name}`)),
    root: Object.fromEntries(Object.entries(seen.root).filter(([name]) => !/^lib(32|64|x32)$/.test(name))),
    dev: seen.dev,
    environment: seen.environment,
    uidMap: map(seen.uidMap),
    gidMap: map(seen.gidMap),
    // A program has a group of its own below its sandbox's, where the hierarchy kills; it sees no name above.
    cgroups: [...new Set(seen.cgroups.trim().split('\n').map((line) => line.replace(/^\d+:[^:]*:/, '').replace(/^(\/\.\.)?\/p\d+$/, '/')))],
    workingDirectory: seen.workingDirectory,
    hostname: seen.hostname,
    oomScoreAdjust: seen.oomScoreAdjust,
    limits: rows,
    shell: shell.trim().split('\n').map((line) => line.replace(/pipe:\[\d+\]/, 'a pipe').replace(/^session (\d+) \1$/, 'leads its session').replaceAll('\t', ' ')),
  };
}
