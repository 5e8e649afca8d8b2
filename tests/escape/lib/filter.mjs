// Reads the filter's own policy and makes probes of it, so that no rule is without one.
import os from 'node:os';

// { name, error, tests: [{ index, mask, wanted }], reason } for every argument rule.
export function readPolicy(text) {
  const value = (word) => (word === 'kInt' ? 0xffffffffn : BigInt(/^0[0-7]+$/.test(word) ? `0o${word.slice(1)}` : word));
  const rules = [];
  const pattern = /\{"(\w+)",\s*(\d+),\s*(\d+),\s*\{((?:\{[^{}]*\},?\s*)+)\},\s*"([^"]*)"\}/g;
  for (const [, name, error, count, tests, reason] of text.matchAll(pattern)) {
    const parsed = [...tests.matchAll(/\{(\d+), (\w+), (\w+)\}/g)].map(([, index, mask, wanted]) => ({ index: Number(index), mask: value(mask), wanted: value(wanted) }));
    if (parsed.length !== Number(count)) throw new Error(`cannot read the rule for ${name}: ${reason}`);
    rules.push({ name, error: Number(error), tests: parsed, reason });
  }
  return rules;
}

const errors = { 0: 'allowed', 1: 'EPERM', 38: 'ENOSYS' };
// Bits that no rule looks at: the upper half of an int, as a careless comparison would not expect them.
const upper = [0n, 0xffffffffn << 32n, ...Array.from({ length: 32 }, (_, bit) => 1n << BigInt(32 + bit))];

// One rule, several calls: as written; with all unlooked-at lower bits set; each with garbage in bits 32 to 63.
export function argumentCases(rules, numbers) {
  const cases = [];
  rules.forEach((rule, at) => {
    const title = `${rule.name} ${rule.reason}`;
    for (const noise of rule.error === 0 ? [0n] : [0n, 0xffffffffn]) {
      upper.forEach((high, which) => {
        const args = [0n, 0n, 0n, 0n, 0n];
        for (const { index, mask, wanted } of rule.tests) args[index] = (noise & ~mask & 0xffffffffn) | wanted | high;
        const call = [`${at}.${noise}.${which}`, numbers[rule.name], ...args.map((arg) => `0x${arg.toString(16)}`)];
        cases.push({ rule: title, wanted: errors[rule.error], call });
      });
    }
  });
  return cases;
}

// Allowed calls that older kernels do not have: there the golden line is kept, whatever was found.
const since = { 436: 5.09, 437: 5.06, 439: 5.08, 441: 5.11, 449: 5.16, 451: 6.05, 452: 6.06 };
const [major, minor] = os.release().split('.').map(Number);
const isMissing = (number) => since[number] > major + minor / 100;
const mseal = 462; // allowed only if the libseccomp of the build knows its name

// The table of all numbers: what is not named is ENOSYS. `sweeps` has a verdict per number for each kind of argument.
export function numberTable(sweeps, names) {
  const lines = ['# Numbers of x86-64 from 0 to 1023. Every number that is not here answers ENOSYS.'];
  for (let number = 0; number < 1024; number++) {
    const seen = sweeps.map((sweep) => sweep[number]);
    if (number === mseal || (seen.every((verdict) => verdict === 'ENOSYS') && !isMissing(number))) continue;
    const dies = seen.every((verdict) => verdict === 'SIGILL' || verdict === 'SIGSYS');
    lines.push(`${number} ${names[number] ?? '?'} ${dies ? seen[0] : 'allowed'}`);
  }
  return lines;
}
