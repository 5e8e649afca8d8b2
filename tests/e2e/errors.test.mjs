// The catalogue of docs/errors.md: one program per row, and the first line that a model gets for it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { belljar, environment } from './lib/belljar.mjs';

let client;
before(async () => {
  client = new Client({ name: 'e2e', version: '1' });
  await client.connect(
    new StdioClientTransport({ command: belljar, args: ['mcp'], env: environment(), stderr: 'inherit' }),
  );
});
after(() => client?.close());

const call = (name, args) => client.callTool({ name, arguments: args });
const run = (code, args = {}) => call('run_js_ephemeral', { code, ...args });
const prefix = 'Error during execution: ';

// The line behind the prefix, and whether it can be shown as it is.
function firstLine(result) {
  assert.equal(result.isError, true, JSON.stringify(result.structuredContent));
  const block = result.content.find(({ text }) => text?.startsWith(prefix));
  assert.ok(block, JSON.stringify(result.content));
  const line = block.text.slice(prefix.length).split('\n', 1)[0];
  assert.ok(line.length <= 600, line);
  assert.doesNotMatch(line, /[\u0000-\u001f\u007f\ufffd]/);
  return line;
}

const fs = "import fs from 'node:fs';\n";
const net = "import net from 'node:net';\n";
const http = "import http from 'node:http';\n";
const processes = "import { spawn, execSync } from 'node:child_process';\n";
const require = "import { createRequire } from 'node:module';\nconst load = createRequire(import.meta.url);\n";
const typescript = { language: 'typescript' };
const small = { limits: { memory: '128m', disk: '16m', pids: 32 } };
const noNetwork = /This sandbox has no network\..*"dependencies".*"stdin"/;
const sentAsJavaScript = /is TypeScript: run the program again with "language": "typescript"/;

// What the program did: its text, what its first line says, and more arguments if it needs them.
const modules = {
  'a package that is not installed': [
    `import _ from 'lodash';\nimport x from '@a/b/c';`,
    'add {"name": "lodash", "version": "latest"}, {"name": "@a/b", "version": "latest"} to "dependencies".',
  ],
  'a package that is not installed, by require()': [
    `${require}load('express/lib/router');`,
    'add {"name": "express", "version": "latest"} to "dependencies".',
  ],
  'a built-in module by a wrong name': [`import 'node:fss';`, 'Did you mean "node:fs"?'],
  'a built-in path by a wrong name': [`import 'fs/promise';`, 'Did you mean "node:fs/promises"?'],
  'a path alias': [`import '@/lib/x';`, 'there are no path aliases here'],
  'a file that is not there': [`import './lib/util.js';`, 'There is no module /workspace/lib/util.js: run_js_ephemeral'],
  'a file without its ending': [`${fs}fs.writeFileSync('util.js', '');\nawait import('./util');`, 'here "./util.js"'],
  'a directory': [`${fs}fs.mkdirSync('lib');\nawait import('./lib');`, 'A directory cannot be imported'],
  'JSON without an attribute': [`import './package.json';`, 'with { type: "json" }'],
  'an address': [`import 'https://example.com/x.js';`, 'Add the package to "dependencies"'],
  'a name that begins with #': [`import '#x';`, 'write a relative path instead'],
  'require()': [
    `const { join: j } = require('path');\nconst fs = require('fs');`,
    "write import { join as j } from 'node:path'; import fs from 'node:fs';",
  ],
  'module.exports': [`module.exports = 1;`, 'write export or export default'],
  'exports': [`exports.a = 1;`, 'write export or export default'],
  '__dirname': [`console.log(__dirname);`, 'write import.meta.dirname'],
  '__filename': [`console.log(__filename);`, 'write import.meta.filename'],
  'a named export of a CommonJS package': [
    `${fs}fs.mkdirSync('node_modules/cj', { recursive: true });
     fs.writeFileSync('node_modules/cj/index.js', 'module.exports = { ["a" + "b"]: 1 }');
     fs.writeFileSync('m.js', "import { ab } from 'cj';");
     await import('./m.js');`,
    "import pkg from 'cj'; const { ab } = pkg;",
  ],
  'a path that a package does not export': [
    `${fs}fs.mkdirSync('node_modules/p', { recursive: true });
     fs.writeFileSync('node_modules/p/package.json', '{"exports":{".":"./i.js"}}');
     await import('p/sub');`,
    'does not offer that path',
  ],
  'an export that is not there': [`import { readFil } from 'node:fs';`, '"node:fs" has no export named "readFil"'],
  'a default export that is not there': [
    `${fs}fs.writeFileSync('m.js', '');\nfs.writeFileSync('n.js', "import m from './m.js';");\nawait import('./n.js');`,
    '"./m.js" has no default export',
  ],
  'import in a CommonJS file': [
    `${fs}fs.writeFileSync('m.cjs', "import 'fs';");\nawait import('./m.cjs');`,
    'is taken as CommonJS',
  ],
  'require() of a module with top-level await': [
    `${fs}${require}fs.writeFileSync('m.mjs', 'await 1');\nload('./m.mjs');`,
    'use await import() instead of require()',
  ],
};

const syntax = {
  'TypeScript sent as JavaScript': [`const a: number = 1;`, sentAsJavaScript],
  'an interface sent as JavaScript': [`interface A { x: number }`, sentAsJavaScript],
  'an enum': [`enum A { B }`, 'Instead of an enum write const', typescript],
  'a namespace': [`namespace A { export const x = 1; }`, 'Instead of a namespace', typescript],
  'a parameter property': [`class A { constructor(private x: number) {} }`, 'declare the field', typescript],
  'bad TypeScript': [`\nconst a: = 1;`, 'Syntax error in line 2: ', typescript],
  'a decorator': [`function d() {}\n@d class A {}`, 'does not run decorators', typescript],
  'JSX': [`const a = <b>c</b>;`, 'has JSX or HTML'],
  'Markdown': ['```js\nconsole.log(1);\n```', 'without the ``` of Markdown'],
  'await in a plain function': [`function f() { await g(); }`, 'write async before it'],
  'return at the top level': [`return 1;`, 'returns outside of a function'],
  'a syntax error': [`\nconst x = ;`, "Syntax error in line 2: Unexpected token ';'"],
};

const limits = {
  'too much memory': [
    `const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1));`,
    /the sandbox may use 128 MiB\. Ask for more with "limits": \{"memory": "256m"\}/,
    small,
  ],
  'a full heap': [
    `import { Worker } from 'node:worker_threads';
     new Worker('const a = []; for (;;) a.push([1]);', { eval: true, resourceLimits: { maxOldGenerationSizeMb: 8 } });`,
    /The JavaScript heap is full.*"limits": \{"memory": "1g"\}/,
  ],
  'a full disk': [
    `${fs}fs.writeFileSync('big', Buffer.alloc(20 << 20));`,
    /may write 16 MiB\. Ask for more with "limits": \{"disk": "32m"\}/,
    small,
  ],
  'too many processes': [
    `${processes}for (let i = 0; i < 60; i++) spawn('sleep', ['9']);`,
    /may have 32\. Ask for more with "limits": \{"pids": 64\}/,
    small,
  ],
  'too many open files': [`${fs}for (;;) fs.openSync('/etc/passwd');`, 'Too many files or sockets'],
  'endless recursion': [`function f() { return f() + 1; }\nf();`, 'A function calls itself without end'],
  'a loop that does not end': [
    `console.log('step 1');\nfor (;;);`,
    /^ETIMEDOUT: .* 700 ms.*The last line it printed: "step 1".*"timeoutMs"/,
    { timeoutMs: 700 },
  ],
  'a server without listenOnPort': [
    `${http}http.createServer().listen(3000);`,
    /^ETIMEDOUT: .*run_js with "listenOnPort"/,
    { timeoutMs: 700 },
  ],
  'a promise that never settles': [`await new Promise(() => {});`, /code 13\. A promise .* never settled/],
};

const surroundings = {
  'fetch()': [`await fetch('https://example.com/');`, noNetwork],
  'a request by name': [`import https from 'node:https';\nhttps.get('https://example.com/');`, noNetwork],
  'a connection by address': [`${net}net.connect(80, '192.0.2.1');`, noNetwork],
  'a query for a name': [`import dns from 'node:dns/promises';\nawait dns.resolve4('example.com');`, noNetwork],
  'a service that is not there': [`${net}net.connect(5432, '127.0.0.1');`, 'Nothing listens on that port'],
  'a port that is taken': [
    `${http}http.createServer().listen(3000);\nhttp.createServer().listen(3000);`,
    'That port is taken',
  ],
  'a file that may not be written': [`${fs}fs.writeFileSync('/root/x', '');`, 'No permission for /root/x'],
  'a file system that may not be written': [`${fs}fs.writeFileSync('/usr/x', '');`, 'beneath /workspace and /tmp'],
  'a file that is not there': [`${fs}fs.readFileSync('data.csv');`, 'There is no file or directory data.csv'],
  'a directory that is not there': [`${fs}fs.mkdirSync('a/b');`, '{ recursive: true }'],
  'a command that is not there': [`${processes}execSync('nosuch --x', { stdio: 'pipe' });`, 'no command "nosuch"'],
  'a program that is not there': [`${processes}spawn('nosuch');`, 'no command "nosuch"'],
};

const ends = {
  'a rejection without an Error': [`Promise.reject('no');`, 'reject with new Error('],
  'a thrown string': [`throw 'no';`, 'throw new Error('],
  'a name of browsers': [`document.title;`, 'add {"name": "jsdom", "version": "latest"}'],
  'an undefined name': [`\nfoo();`, 'Uncaught ReferenceError in line 2: foo is not defined'],
  'bad JSON': [`JSON.parse('<');`, 'Uncaught SyntaxError in line 1: '],
  'a crash': [`process.abort();`, 'killed by SIGABRT. That is a crash'],
  'a signal': [`process.kill(process.pid, 'SIGTERM');\nsetInterval(() => {}, 1e3);`, 'killed by SIGTERM. Something inside'],
  'an exit code of its own': [`process.exit(3);`, 'exited with code 3. It set this exit code itself'],
  'an error that the program prints itself': [
    `import('lodash').catch((error) => { console.error(error.message); process.exit(1); });`,
    'add {"name": "lodash"',
  ],
};

for (const [group, rows] of Object.entries({ modules, syntax, limits, surroundings, ends })) {
  describe(group, () => {
    for (const [name, [code, expected, args]] of Object.entries(rows)) {
      test(name, async () => {
        const line = firstLine(await run(code, args));
        if (expected instanceof RegExp) assert.match(line, expected);
        else assert.ok(line.includes(expected), line);
      });
    }
  });
}

test('what was printed on both streams stands behind the first line', async () => {
  const result = await run(`console.log('to stdout');\nconsole.error('to stderr');\nimport('lodash');`);
  const block = result.content.find(({ text }) => text?.startsWith(prefix));
  assert.match(block.text, /\nstdout:\nto stdout\n[^]*\nstderr:\nto stderr\n/);
});

test('a session is told what persists and what cannot change', async () => {
  const id = (await call('sandbox_initialize', { limits: { memory: '128m' } })).content[0].text;
  const inSession = (code) => call('run_js', { container_id: id, code });
  assert.match(firstLine(await inSession(`import './a.js';`)), /sandbox_write_files/);
  assert.match(
    firstLine(await inSession(`const a = []; for (;;) a.push(Buffer.alloc(1 << 24, 1));`)),
    /"limits": \{"memory": "256m"\} in a new sandbox \(sandbox_initialize\)/,
  );
  await call('sandbox_stop', { container_id: id });
});

test('a command of a shell that is not there is named', async () => {
  const id = (await call('sandbox_initialize', {})).content[0].text;
  const result = await call('sandbox_exec', { container_id: id, commands: ['nosuch --x'] });
  assert.match(result.content.map(({ text }) => text).join('\n'), /There is no command "nosuch"/);
  await call('sandbox_stop', { container_id: id });
});

describe('lint', () => {
  const lint = (result) => {
    const block = result.content[0].text;
    return block.startsWith('Linting issues found') ? block.split('\n').slice(1) : [];
  };

  test('names what is undefined, each with its line', async () => {
    const result = await run(`const a = 1;\nconsole.log(a, foo);\nbar();\nrequire('x');`);
    const expected = [
      "L2:16: 'foo' is not defined (no-undef)",
      "L3:1: 'bar' is not defined (no-undef)",
      "L4:1: 'require' is not defined (no-undef)",
    ];
    assert.deepEqual(lint(result), expected);
    assert.deepEqual(result.structuredContent.lint, expected);
    assert.match(firstLine(result), /Uncaught ReferenceError in line 2/);
  });

  test('knows the syntax of both languages', async () => {
    assert.deepEqual(lint(await run(`let x = 1;\nlet x = 2;`)), [
      'L2:5: Identifier `x` has already been declared (syntax)',
    ]);
    assert.deepEqual(lint(await run(`const a: string = foo;`, typescript)), ["L1:19: 'foo' is not defined (no-undef)"]);
  });

  test('knows the names of Node.js and leaves style alone', async () => {
    const names = 'process, Buffer, fetch, structuredClone, setImmediate, performance, crypto, URL, WebSocket, globalThis';
    assert.deepEqual(lint(await run(`var unused = [${names}];\nif (1 == '1') throw new Error('x');`)), []);
  });

  test('says nothing about a program that worked', async () => {
    const result = await run(`if (false) foo();`);
    assert.equal(result.isError ?? false, false);
    assert.deepEqual(result.structuredContent.lint, []);
  });

  test('says at most 20 lines, and how many more there are', async () => {
    const lines = lint(await run(Array.from({ length: 30 }, (_, i) => `undefined${i}();`).join('\n')));
    assert.equal(lines.length, 21);
    assert.equal(lines.at(-1), '… and 10 more');
  });

  test('is not led astray by files of a session', async () => {
    const id = (await call('sandbox_initialize', {})).content[0].text;
    const code = `${fs}fs.writeFileSync('.oxlintrc.json', '{"rules":{"no-undef":"off"},"ignorePatterns":["**"]}');
      fs.writeFileSync('.eslintignore', '*');\nfoo();`;
    const result = await call('run_js', { container_id: id, code });
    assert.deepEqual(lint(result), ["L4:1: 'foo' is not defined (no-undef)"]);
    await call('sandbox_stop', { container_id: id });
  });
});
