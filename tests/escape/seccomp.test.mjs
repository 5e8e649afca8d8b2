// SC: the system call filter, number by number and argument by argument, against syscalls.golden.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

import { root } from '../e2e/lib/belljar.mjs';
import { matchesGolden } from './lib/golden.mjs';
import { onlyThese, openJar } from './lib/jar.mjs';
import { argumentCases, numberTable, readPolicy } from './lib/filter.mjs';
import { cloneNew, nr, onlyX64 } from './lib/syscalls.mjs';

const jar = openJar();
const policy = readPolicy(readFileSync(`${root}src/sandbox/seccomp_policy.h`, 'utf8'));
const header = '/usr/include/x86_64-linux-gnu/asm/unistd_64.h';
const numbers = Object.fromEntries([...(existsSync(header) ? readFileSync(header, 'utf8') : '').matchAll(/#define __NR_(\w+) (\d+)/g)].map(([, name, number]) => [name, Number(number)]));

// One verdict for each number from 0 to 1023 and some odd ones: by an entry, with one value in all arguments, and with bits
// of the number set that the kernel does not look at.
const sweep = async (abi, value, bits) => Object.fromEntries(await jar.inside((how) =>
  probe('sweep', ...how).map((answer) => [answer.label, verdict(answer)]), { data: [abi, value, bits], timeoutMs: 30_000 }));
const isRefusal = (verdict) => ['ENOSYS', 'SIGSYS', 'SIGILL'].includes(verdict);
const isOdd = (number) => Number(number) < 0 || Number(number) > 1023;
const some = (verdicts, wanted) => Object.fromEntries(Object.entries(verdicts).filter(([number]) => wanted(number)));
const refusedNumbers = (verdicts) => Object.keys(verdicts).filter((number) => isRefusal(verdicts[number]));

let table;
test('SC05 every number from 0 to 1023 and the odd ones have the verdict in syscalls.golden', onlyX64, async () => {
  const [zero, ones] = [await sweep('native', '0', '0'), await sweep('native', '-1', '0')];
  table = numberTable([zero, ones], Object.fromEntries(Object.entries(numbers).map(([name, number]) => [number, name])));
  for (const verdicts of [zero, ones]) onlyThese(some(verdicts, isOdd), 'ENOSYS', 'SIGSYS'); // from 2^30 on it counts as x32
  const upperArguments = await sweep('native', '0xffffffff00000000', '0');
  const upperNumber = await sweep('native', '0', '0x100000000');
  assert.deepEqual(refusedNumbers(upperArguments), refusedNumbers(zero), 'with the upper half of every argument set');
  assert.deepEqual(refusedNumbers(upperNumber), refusedNumbers(zero), 'with the upper half of the number set');
});

test('SC01 SC02 SC05 every number of the i386 and x32 entries kills', onlyX64, async () => {
  for (const abi of ['i386', 'x32']) {
    for (const value of ['0', '-1']) {
      const seen = await sweep(abi, value, '0');
      onlyThese(some(seen, (number) => !isOdd(number)), 'SIGSYS');
      onlyThese(some(seen, isOdd), 'SIGSYS', 'ENOSYS'); // -1 is no number to the kernel
    }
    if (table) table.push(`${abi}: every number from 0 to 1023 SIGSYS`);
  }
});

test('SC04 SC14 every argument rule holds alone, with noise around it, and with the upper half of each int set', onlyX64, async () => {
  const cases = argumentCases(policy, { ...numbers, ...nr });
  const seen = await jar.inside((cases) => calls(cases.map(({ call }) => call)), { data: cases, timeoutMs: 30_000 });
  const rules = new Map();
  for (const { rule, call, wanted } of cases) {
    const verdicts = rules.get(rule) ?? new Set();
    rules.set(rule, verdicts.add(wanted === 'allowed' && seen[call[0]] !== 'ENOSYS' ? 'allowed' : seen[call[0]]));
  }
  const lines = [...rules].map(([rule, verdicts]) => `${rule}: ${[...verdicts].join(' or ')}`);
  assert.ok(cases.length > 200, `${cases.length} cases were read from the policy`);
  matchesGolden('syscalls.golden', `${[...table, '', ...lines].join('\n')}\n`);
});

test('SC01 int 0x80 kills', onlyX64, async () => {
  const seen = await jar.inside(() => calls([['getpid', 'i386 20'], ['socketcall', 'i386 102', 1, 'z:32'], ['exit', 'i386 1', 0], ['mount', 'i386 21', 0], ['keyctl', 'i386 288', 0]]));
  onlyThese(seen, 'SIGSYS');
});

test('SC02 the x32 numbers kill', onlyX64, async () => {
  const seen = await jar.inside(() => calls([0, 1, 39, 41, 56, 101, 165, 512, 520, 546].map((number) => [`x32.${number}`, `x32 ${number}`, 0, 0, 0])));
  onlyThese(seen, 'SIGSYS');
});

test('SC06 io_uring does not exist, and Node.js works without it', onlyX64, async () => {
  const seen = await jar.inside(async (nr) => {
    await fs.promises.writeFile('/tmp/f', 'text');
    return { ...calls([['setup', nr.io_uring_setup, 8, 'z:120'], ['enter', nr.io_uring_enter, 0, 0, 0, 0], ['register', nr.io_uring_register, 0, 0, 0, 0]]), text: await fs.promises.readFile('/tmp/f', 'utf8') };
  }, { data: nr });
  assert.deepEqual(seen, { setup: 'ENOSYS', enter: 'ENOSYS', register: 'ENOSYS', text: 'text' });
});

test('SC09 the filter is there after fork, exec, a double fork and in a thread', onlyX64, async () => {
  const seen = await jar.inside(async (nr) => {
    const path = bringProbe();
    const call = `${path} call 'x native ${nr.unshare} 0x10000000'`;
    const shells = [call, `sh -c "$0"`, '(setsid sh -c "$0" | cat)', 'nohup sh -c "$0" 2>/dev/null & wait'].map((script) => String(cp.execFileSync('/bin/sh', ['-c', script, call])));
    const worker = new Worker(`const { execSync } = require('child_process'); require('worker_threads').parentPort.postMessage(String(execSync(${JSON.stringify(call)})))`, { eval: true });
    shells.push(await new Promise((resolve) => worker.once('message', resolve)));
    return Object.fromEntries(shells.map((text, i) => [i, verdict(JSON.parse(text))]));
  }, { data: nr });
  onlyThese(seen, 'ENOSYS');
  assert.equal(Object.keys(seen).length, 5);
});

test('SC10 SC12 SC13 no filter can be added, and the calls the kernel itself exempts do nothing', onlyX64, async () => {
  const seen = await jar.inside((nr) => calls([
    ['seccomp.notify', nr.seccomp, 1, 8, 'z:16'], ['seccomp.strict', nr.seccomp, 0, 0, 0], ['prctl', nr.prctl, 22, 2, 'z:16'],
    ['sigreturn', 15], ['restart', 219], ['uretprobe', nr.uretprobe], ['uprobe', 336],
  ]), { data: nr });
  assert.deepEqual({ ...seen, uprobe: undefined }, { 'seccomp.notify': 'ENOSYS', 'seccomp.strict': 'ENOSYS', prctl: 'EPERM', sigreturn: 'SIGSEGV', restart: 'EINTR', uretprobe: 'SIGILL', uprobe: undefined });
  assert.match(seen.uprobe, /^(SIGILL|ENXIO|ENOSYS)$/);
});

test('SC14 each CLONE_NEW* bit is refused alone and with noise', onlyX64, async () => {
  const seen = await jar.inside(({ nr, bits }) => calls(Object.entries(bits).flatMap(([name, bit]) => [0x11, 0x01200011, 0x00000111, 0x00004111].flatMap((noise) =>
    ['', '1', 'ffffffff'].map((high) => [`${name}.${noise.toString(16)}.${high}`, nr.clone, `0x${high}${((bit | noise) >>> 0).toString(16).padStart(8, '0')}`, 0, 0, 0, 0])))), { data: { nr, bits: cloneNew } });
  onlyThese(seen, 'EPERM');
});
