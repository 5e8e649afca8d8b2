// Two network namespaces with a wire between them: "world", where everybody lives that a sandbox may or may not reach, and
// "host", where belljar is started. Nothing of the machine's own network is touched, and nothing has a name that could be
// left behind: the namespaces, and the wire with them, go when the two programs in them end, and these end with the test.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

import { until, within } from '../../e2e/lib/wait.mjs';
import { addresses, families, notPublic, ports, worldly } from './addresses.mjs';

const inhabitant = fileURLToPath(new URL('inhabitant.mjs', import.meta.url));

// A namespace and the program in it, which serves and remembers.
class Place {
  static async start() {
    const place = new Place();
    place.child = spawn('unshare', ['--net', process.execPath, inhabitant], { stdio: ['pipe', 'pipe', 'inherit'] });
    place.child.stdin.on('error', () => {}); // it may be gone already
    place.exited = once(place.child, 'exit');
    place.waiting = new Map();
    place.nextId = 1;
    const ready = new Promise((resolve) => place.waiting.set(0, resolve));
    createInterface({ input: place.child.stdout }).on('line', (line) => {
      const { id, ...answer } = JSON.parse(line);
      place.waiting.get(id)(answer);
      place.waiting.delete(id);
    });
    await within(20_000, 'the inhabitants of a lab', ready);
    place.netns = `/proc/${place.child.pid}/ns/net`;
    place.inode = readlinkSync(place.netns);
    return place;
  }

  async ask(what, rest = {}) {
    const id = this.nextId++;
    const answer = new Promise((resolve) => this.waiting.set(id, resolve));
    this.child.stdin.write(`${JSON.stringify({ id, do: what, ...rest })}\n`);
    const { error, ...found } = await within(10_000, `the inhabitants to do "${what}"`, answer);
    if (error) throw new Error(`${what} ${JSON.stringify(rest)}: ${error}`);
    return found;
  }

  // Runs shell commands in the namespace, as root.
  sh(...lines) {
    return execFileSync('nsenter', [`--net=${this.netns}`, '/bin/sh', '-ec', lines.join('\n')], { encoding: 'utf8' });
  }

  // A counter of the kernel, such as "Ip InReceives" or "Ip6InReceives".
  counter(name) {
    const [group, field] = name.split(' ');
    if (!field) return Number(new RegExp(`^${group}\\s+(\\d+)`, 'm').exec(readFileSync(`/proc/${this.child.pid}/net/snmp6`, 'utf8'))?.[1] ?? 0);
    const [titles, values] = readFileSync(`/proc/${this.child.pid}/net/snmp`, 'utf8').split('\n').filter((line) => line.startsWith(`${group}: `)).map((line) => line.split(' '));
    return Number(values[titles.indexOf(field)]);
  }

  // Processes in this namespace other than our own.
  others() {
    return processesIn(this.inode).filter((pid) => pid !== this.child.pid);
  }

  async stop() {
    this.child.stdin.end();
    await within(5_000, 'the inhabitants of a lab to end', this.exited);
    await until('the last process to leave a network of the lab', () => processesIn(this.inode).length === 0);
  }
}

export function processesIn(inode) {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name)).map(Number).filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/net`) === inode;
    } catch {
      return false; // it has ended meanwhile
    }
  });
}

// Both ends know each other from the start: no packet is spent on looking for a neighbour, so every packet is somebody's.
const cards = { world: '02:00:00:00:00:01', host: '02:00:00:00:00:02' };
const acquaint = (who, card) => families.map((family) => `ip neighbour add ${addresses[who][family]} lladdr ${card} dev wire nud permanent`);

const worldCommands = (hostPid) => [
  'ip link set lo up',
  `ip link add wire address ${cards.world} type veth peer name wire address ${cards.host} netns ${hostPid}`,
  'ip link set wire addrgenmode none',
  ...worldly.flatMap((who) => [`ip address add ${addresses[who].v4}/32 dev wire`, `ip address add ${addresses[who].v6}/128 dev wire nodad`]),
  'ip link set wire up',
  ...acquaint('host', cards.host),
  `ip route add ${addresses.host.v4}/32 dev wire`,
  `ip -6 route add ${addresses.host.v6}/128 dev wire`,
  ...notPublic.v4.map((range) => `ip route add local ${range} dev lo`),
  ...notPublic.v6.map((range) => `ip -6 route add local ${range} dev lo`),
  // Whoever is nowhere is said to be nowhere, at once and without a limit to how often.
  'echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding',
  'echo 0 >/proc/sys/net/ipv4/icmp_ratemask; echo 0 >/proc/sys/net/ipv6/icmp/ratelimit',
  'ip route add unreachable default; ip -6 route add unreachable default',
  `ip route add blackhole ${addresses.silent.v4}; ip -6 route add blackhole ${addresses.silent.v6}`,
];

const hostCommands = [
  'ip link set lo up',
  'ip link set wire addrgenmode none',
  `ip address add ${addresses.host.v4}/32 dev wire`,
  `ip address add ${addresses.host.v6}/128 dev wire nodad`,
  'ip link set wire up',
  ...acquaint('public', cards.world),
  ...acquaint('neighbour', cards.world),
  'ip route add 93.184.217.0/24 dev wire; ip -6 route add 2606:4700:1::/64 dev wire',
  `ip route add default via ${addresses.public.v4} dev wire onlink`,
  `ip -6 route add default via ${addresses.public.v6} dev wire onlink`,
];

export class Lab {
  static async start() {
    if (process.getuid() !== 0) throw new Error('a lab of network namespaces needs root');
    const lab = new Lab();
    lab.directory = mkdtempSync(join(tmpdir(), 'belljar-lab-'));
    process.once('exit', () => rmSync(lab.directory, { recursive: true, force: true }));
    lab.resolvConf = join(lab.directory, 'resolv.conf');
    lab.setNameServers(addresses.names.v4);
    [lab.world, lab.host] = await Promise.all([Place.start(), Place.start()]);
    lab.world.sh(...worldCommands(lab.host.child.pid));
    lab.host.sh(...hostCommands);
    await Promise.all([lab.#populateWorld(), lab.#populateHost()]);
    return lab;
  }

  async #populateWorld() {
    const named = worldly.filter((who) => who !== 'names').flatMap((who) => families.map((family) => addresses[who][family]));
    await Promise.all([
      ...['http', 'echo', 'greeter', 'discard', 'resetter'].flatMap((kind) => ports[kind].map((port) => this.world.ask('tcp', { kind, address: '::', port }))),
      ...['0.0.0.0', '::', ...named].flatMap((address) => ports.datagrams.map((port) => this.world.ask('udp', { address, port }))),
      // The server that the host asks, the attacker's, and one of the LAN.
      ...['names', 'public', 'lan'].flatMap((who) => families.map((family) => this.world.ask('names', { address: addresses[who][family] }))),
    ]);
  }

  async #populateHost() {
    await Promise.all([
      this.host.ask('tcp', { kind: 'http', address: '::', port: ports.hostEverywhere }),
      ...['0.0.0.0', '::'].map((address) => this.host.ask('udp', { address, port: ports.hostEverywhere })),
      ...['127.0.0.1', '::1'].map((address) => this.host.ask('tcp', { kind: 'http', address, port: ports.hostLoopback })),
      ...['127.0.0.1', '::1'].map((address) => this.host.ask('udp', { address, port: ports.hostLoopback })),
    ]);
  }

  // What belljar's host has in its /etc/resolv.conf from now on. The file stays the same one: it is mounted.
  setNameServers(...servers) {
    writeFileSync(this.resolvConf, servers.map((server) => `nameserver ${server}\n`).join(''), { mode: 0o644 });
  }

  // The environment in which `in_lab` starts belljar here.
  environment(program = process.env.LAB_BELLJAR) {
    // What other tests turn off is as it is for everybody.
    return { LAB_BELLJAR: program, LAB_NETNS: this.host.netns, LAB_RESOLV: this.resolvConf, BELLJAR_NETWORK: undefined };
  }

  // What has arrived in the world: { connections, datagrams, queries, secure }; `host` has the same of the host's own services.
  async log() {
    const [world, host] = await Promise.all([this.world.ask('log'), this.host.ask('log')]);
    return { ...world, host };
  }

  async reset() {
    await Promise.all([this.world.ask('reset'), this.host.ask('reset')]);
  }

  // How many packets the kernel has received in the world. Those to groups are how a host speaks of itself.
  arrived() {
    return { v4: this.world.counter('Ip InReceives'), v6: this.world.counter('Ip6InReceives') - this.world.counter('Ip6InMcastPkts') };
  }

  async stop() {
    await Promise.all([this.world.stop(), this.host.stop()]);
    rmSync(this.directory, { recursive: true, force: true });
  }
}
