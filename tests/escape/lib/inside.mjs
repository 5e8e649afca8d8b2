// Runs in the sandbox, in front of a test's own function: what an attacker needs. PROBE is defined by jar.mjs.
import cp from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';

// What became of an attempt: 'ok' and its value, or the error's code.
function attempt(what) {
  try {
    return { outcome: 'ok', value: what() };
  } catch (error) {
    return { outcome: error.code ?? String(error) };
  }
}
const outcomes = (attempts) =>
  Object.fromEntries(Object.entries(attempts).map(([name, what]) => [name, attempt(what).outcome]));
const tryToRead = (paths) => outcomes(Object.fromEntries(paths.map((path) => [path, () => fs.readFileSync(path)])));
const tryToWrite = (paths, text) =>
  outcomes(Object.fromEntries(paths.map((path) => [path, () => fs.writeFileSync(path, text, { flag: 'r+' })])));

const PROBE_PATH = '/tmp/probe';
function bringProbe() {
  if (!fs.existsSync(PROBE_PATH)) fs.writeFileSync(PROBE_PATH, Buffer.from(PROBE, 'base64'), { mode: 0o755 });
  return PROBE_PATH;
}
function probe(...args) {
  const { stdout, error } = cp.spawnSync(bringProbe(), args, { maxBuffer: 1 << 26 });
  if (error) throw error;
  return stdout.toString().trim().split('\n').map((line) => JSON.parse(line));
}

const errnoNames = Object.fromEntries(Object.entries(os.constants.errno).map(([name, number]) => [number, name]));
const signalNames = Object.fromEntries(Object.entries(os.constants.signals).map(([name, number]) => [number, name]));
// 'ok', 'EPERM', 'SIGSYS', or 'blocked' for a call that did not return.
function verdict({ result, signal }) {
  if (signal === os.constants.signals.SIGALRM) return 'blocked';
  if (signal) return signalNames[signal] ?? `signal ${signal}`;
  if (result === null) return 'exited';
  return result < 0 && result > -4096 ? errnoNames[-result] ?? `errno ${-result}` : 'ok';
}
// [['label', number, ...arguments], …] → { label: verdict }
function calls(list) {
  const seen = {};
  for (let at = 0; at < list.length; at += 200) {
    const texts = list.slice(at, at + 200).map(([label, number, ...args]) =>
      [label, ...(typeof number === 'string' ? number.split(' ') : ['native', number]), ...args].join(' '));
    for (const answer of probe('call', ...texts)) seen[answer.label] = verdict(answer);
  }
  return seen;
}
