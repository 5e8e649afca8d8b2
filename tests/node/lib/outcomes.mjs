// How a program ended, by each side: { stdout, stderr, exitCode, signal, timedOut, oomKilled, truncated }.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const timeoutMs = 25_000;
const telemetryTitle = 'Telemetry:\n';

// Warnings, and what NODE_DEBUG brings, carry the number of the process. It is another on each side: a sandbox in which files
// were written had more processes.
const withoutNumber = (stderr) => stderr.replace(/\(node:\d+\)/g, '(node:PID)').replace(/^([A-Z]+) \d+: /gm, '$1 PID: ');

const outcomeOf = ({ stdout, stderr, exitCode, signal, timedOut, oomKilled, truncated }) => ({
  exitCode,
  signal,
  stderr: withoutNumber(stderr),
  stdout,
  timedOut,
  oomKilled,
  truncated,
});

// The result of a call that must be carried out; how a program ended is a result, too.
async function carriedOut(call) {
  const result = await call;
  if (!result.structuredContent) throw new Error(result.text);
  return result;
}

// Makes a sandbox with these files in /workspace, and takes it away when `use` is done with its id.
async function inSession(server, image, files, use) {
  const { container_id: id } = await carriedOut(server.call('sandbox_initialize', { image }));
  try {
    const list = Object.entries(files).map(([path, content]) => ({ path, content }));
    if (list.length > 0) await carriedOut(server.call('sandbox_write_files', { container_id: id, files: list }));
    return await use(id);
  } finally {
    await server.call('sandbox_stop', { container_id: id });
  }
}

const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;

// What a shell adds to its environment.
const ofShell = new Set(['_', 'OLDPWD', 'SHLVL']);

// `exec env -i …`: what the program finds as its environment is in the order of the names, not of the shell's memory.
function plainCommand({ main, args, env }, environment) {
  const inherited = environment
    .split('\0')
    .map((line) => /^([^=]+)=(.*)$/s.exec(line))
    .filter(Boolean);
  const all = { ...Object.fromEntries(inherited.filter(([, name]) => !ofShell.has(name)).map(([, name, value]) => [name, value])), ...env };
  const settings = Object.keys(all)
    .sort()
    .map((name) => quoted(`${name}=${all[name]}`));
  return ['exec env -i', ...settings, '/usr/local/bin/node', `/workspace/${main}`, ...args.map(quoted)].join(' ');
}

async function shell(server, id, command) {
  const { results } = await carriedOut(server.call('sandbox_exec', { container_id: id, commands: [command], timeoutMs }));
  return results[0];
}

// The environment that programs of a server find in sandboxes of that version; asked for once.
const environments = new Map();
async function environmentOf(server, version, id) {
  const key = `${server.pid} ${version}`;
  if (!environments.has(key)) environments.set(key, (await shell(server, id, 'cat /proc/self/environ')).stdout);
  return environments.get(key);
}

// The reference: Node.js, executed plainly in a fresh sandbox.
export function bareOutcome(server, version, program) {
  const input = program.stdin === '' ? {} : { '.stdin': program.stdin };
  const files = { [program.main]: program.code, ...program.files, ...input };
  return inSession(server, `node:${version}`, files, async (id) => {
    const command = plainCommand(program, await environmentOf(server, version, id));
    // As belljar's own, a file without a name: it is in no directory that the program lists.
    const opened = program.stdin === '' ? '' : 'exec <.stdin && rm .stdin && ';
    return outcomeOf(await shell(server, id, opened + command));
  });
}

function startOf(result) {
  const block = result.content.find(({ text }) => text?.startsWith(telemetryTitle));
  return block && JSON.parse(block.text.slice(telemetryTitle.length)).start;
}

// The run under test: { outcome, start }, where `start` is how belljar says that it started it, if it does.
export async function belljarOutcome(server, version, program) {
  const { code, args, env, stdin, typescript, files } = program;
  const run = { code, args, env, timeoutMs, ...(typescript && { language: 'typescript' }), ...(stdin !== '' && { stdin }) };
  const image = `node:${version}`;
  const result =
    Object.keys(files).length === 0
      ? await carriedOut(server.call('run_js_ephemeral', { ...run, image }))
      : await inSession(server, image, files, (id) => carriedOut(server.call('run_js', { ...run, container_id: id })));
  return { outcome: outcomeOf(result), start: startOf(result) };
}

// The same Node.js on the host, without a sandbox.
export async function hostOutcome(prefix, program) {
  const directory = mkdtempSync(join(tmpdir(), 'belljar-node-'));
  try {
    const files = { 'package.json': '{"type":"module"}\n', ...program.files, [program.main]: program.code };
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, path)), { recursive: true });
      writeFileSync(join(directory, path), content);
    }
    const env = { HOME: directory, LANG: 'C.UTF-8', PATH: process.env.PATH, TMPDIR: directory, ...program.env };
    return await ended(
      spawn(`${prefix}/bin/node`, [join(directory, program.main), ...program.args], { cwd: directory, env }),
      program.stdin,
    );
  } finally {
    rmSync(directory, { recursive: true });
  }
}

function ended(child, input) {
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (part) => (text[name] += part));
  child.stdin.on('error', () => {}); // it need not read what we write
  child.stdin.end(input);
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode, signal) => {
      clearTimeout(timer);
      const fine = { timedOut: false, oomKilled: false, truncated: false };
      resolve(outcomeOf({ ...text, exitCode, signal, ...fine }));
    });
  });
}

// Why an outcome is not what the program says of itself, or ''. A program with a mistake would end in the same way on both sides.
export function unexpected(program, { exitCode, signal, stderr, truncated }) {
  const end = signal ?? exitCode;
  if (end !== program.exit) return `ended with ${end}, and its header says ${program.exit}; stderr:\n${stderr}`;
  if ((stderr !== '') !== (program.stderr === 'yes')) return `its header says "stderr: ${program.stderr}", but stderr is:\n${stderr}`;
  if (typeof program.exit === 'string' && !(program.exit in constants.signals)) return `there is no signal ${program.exit}`;
  return truncated ? 'it printed more than belljar keeps' : '';
}
