'use strict';
// The program of a zygote: warms Node.js up, then leaves it to the native part, which makes copies of the process. A copy
// must look to its program like a Node.js that has just started; so must one that was executed to wait for its program.
const Module = require('node:module');
const { Console } = require('node:console');
const fs = require('node:fs');
const net = require('node:net');
const { performance } = require('node:perf_hooks');
const v8 = require('node:v8');
const vm = require('node:vm');

// Otherwise it was executed in a sandbox, to be one program.
const isZygote = __filename === '/run/zygotemain.cjs';
const native = { exports: {} };
process.dlopen(native, isZygote ? '/run/zygote.so' : '/proc/self/fd/5');
const { setUp, becomeZygote, becomeParked, serve, wait, lookForExitCode, confirmExitCode, findStartTimes, collectYoung, pipe } = native.exports;

// Where Node.js itself calls the main program from; it is the last line of the stack of a CommonJS program.
Error.stackTraceLimit = Infinity;
const [, where, line, column] = /at (\S+):(\d+):(\d+)$/.exec(new Error().stack);
Error.stackTraceLimit = 10;
const call = '(start, state) => () => start.';
const text = `${' '.repeat(Math.max(0, column - 1 - call.length))}${call}runMain(state.path)`;
const state = { path: '' };
const run = new vm.Script(text, { filename: where, lineOffset: line - 1, columnOffset: Math.max(0, column - 1 - text.indexOf('runMain')) }).runInThisContext()(Module, state);

function prepare(pid, argv) {
  Object.defineProperty(process, 'pid', { value: pid });
  process.argv.splice(0, Infinity, process.execPath, ...argv.slice(1));
  if (process.env.TZ !== undefined) process.env.TZ = process.env.TZ; // tells V8
  state.path = argv[1];
}

// Whoever took a random number before the copies are made would give the same ones to all of them.
const { random } = Math;

// Among what is young, so that it does not happen in the middle of a short program; nor what follows from it.
async function collectGarbage() {
  v8.setFlagsFromString('--expose-gc');
  collectYoung();
  v8.setFlagsFromString('--no-expose-gc');
  await turn();
  await turn();
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

// Runs a program as a copy will.
function runFile(path) {
  prepare(process.pid, ['node', path]);
  run();
}

// Runs programs of no consequence, an ES module and one of CommonJS, which print through a pipe as programs do. Each must be
// a new one: what was loaded once is not loaded again.
async function rehearse(names) {
  const [read, write] = pipe();
  const output = new net.Socket({ fd: write, readable: false, writable: true });
  // Without looking whether there are colours, which would make process.stderr: a copy has another one.
  globalThis.rehearsal = new Console({ stdout: output, stderr: output, colorMode: false });
  const buffer = Buffer.alloc(65536);
  for (const name of names) {
    const ended = new Promise((resolve) => (globalThis.rehearsal.end = resolve));
    runFile(`${name}.js`);
    await ended;
    runFile(`${name}.cjs`);
    await turn();
    fs.readSync(read, buffer);
  }
  delete globalThis.rehearsal;
  output._handle.close(); // destroy() would make process.stderr
  await turn();
  fs.closeSync(read);
}

// Copies of those that every sandbox has.
function writeRehearsals(directory, count) {
  fs.cpSync('/etc/belljar', directory, { recursive: true });
  for (const kind of ['js', 'cjs']) {
    const text = fs.readFileSync(`/etc/belljar/rehearsal.${kind}`);
    for (let i = 0; i < count; i++) fs.writeFileSync(`${directory}/${i}.${kind}`, text);
  }
  return Array.from({ length: count }, (_, i) => `${directory}/${i}`);
}

// The native part has to know the exit code when JavaScript cannot be asked any more.
function findExitCode() {
  process.exitCode = 0x5eed01;
  lookForExitCode(process.exitCode);
  process.exitCode = 0x5eed02;
  if (!confirmExitCode(process.exitCode)) throw new Error('this Node.js keeps its exit code where it cannot be found');
  process.exitCode = undefined;
}

function findTimes() {
  const { environment, nodeStart, v8Start, bootstrapComplete } = performance.nodeTiming;
  if (!findStartTimes(environment, nodeStart, v8Start, bootstrapComplete)) throw new Error('this Node.js keeps the time of its start where it cannot be found');
}

function forgetPrograms() {
  for (const name of Object.keys(require.cache)) delete require.cache[name];
  for (const name of Object.keys(Module._pathCache)) delete Module._pathCache[name];
  module.children.length = 0;
  delete process.mainModule;
}

function tidyUp() {
  forgetPrograms();
  Math.random = random;
  for (const name of Object.keys(process.env)) delete process.env[name];
}

// In a process that nobody waits for yet: what it touches now is its own when its program comes.
async function touch() {
  await rehearse(['/etc/belljar/rehearsal']);
  forgetPrograms();
  await collectGarbage();
  if (!isZygote) findTimes();
  wait();
}

async function beZygote() {
  becomeZygote();
  Math.random = () => {
    throw new Error('a zygote must not take random numbers');
  };
  await rehearse(writeRehearsals('/tmp/rehearsals', 60));
  findExitCode();
  tidyUp();
  await collectGarbage();
  await collectGarbage(); // what has survived once is old now
  findTimes();
  serve();
}

async function beParked() {
  becomeParked();
  fs.unlinkSync(__filename);
  await touch();
}

setUp(touch, prepare, run, () => {});
if (isZygote) beZygote();
else beParked();
