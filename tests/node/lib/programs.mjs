// The programs of the battery, read from programs/GROUP/NAME.EXT or, if one has several files, programs/GROUP/NAME/index.EXT
// and what is beside it. README.md says what their first lines may hold.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../programs', import.meta.url));
// Those that belljar tries copies of a Node.js with by itself, but for the one that prints what is never the same.
const ofCheck = fileURLToPath(new URL('../../../src/drivers/linux/copy_programs', import.meta.url));
const random = 'random.mjs';

// What a header may say, and what holds if it says nothing. Values are JSON, or plain words.
const defaults = { host: 'no', needs: 0, args: [], env: {}, stdin: '', exit: 0, stderr: 'no' };

function valueOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The `// key: value` lines of the comment that a program begins with.
export function headerOf(code) {
  const header = { ...defaults };
  for (const line of code.split('\n')) {
    if (!line.startsWith('//')) break;
    const [, key, text] = /^\/\/ ([a-z]+): (.+)$/.exec(line) ?? [];
    if (key === undefined) continue;
    if (!(key in defaults)) throw new Error(`no header has the word "${key}": ${line}`);
    header[key] = valueOf(text);
  }
  if (typeof header.stdin === 'object') header.stdin = header.stdin.repeat.repeat(header.stdin.times);
  return header;
}

// A program as the two sides run it: `code` is the main file, which is called index.js or index.ts whatever its name here;
// `files` are those beside it, and say that the program is CommonJS if it is.
export function makeProgram(name, extension, code, files = {}) {
  const beside = extension === '.cjs' ? { 'package.json': '{"type":"commonjs"}\n', ...files } : files;
  const typescript = extension === '.ts';
  return { name, code, files: beside, typescript, main: typescript ? 'index.ts' : 'index.js', ...headerOf(code) };
}

function programAt(path, name) {
  if (statSync(path).isFile()) return makeProgram(name.slice(0, -extname(name).length), extname(path), readFileSync(path, 'utf8'));
  const names = readdirSync(path, { recursive: true }).filter((entry) => statSync(join(path, entry)).isFile());
  const main = names.find((entry) => /^index\.\w+$/.test(entry));
  const files = names.filter((entry) => entry !== main).map((entry) => [entry, readFileSync(join(path, entry), 'utf8')]);
  return makeProgram(name, extname(main), readFileSync(join(path, main), 'utf8'), Object.fromEntries(files));
}

// Every program, by the order of its name.
export function allPrograms() {
  const groups = readdirSync(directory).map((group) => [group, join(directory, group)]);
  return [...groups, ['check', ofCheck]].sort().flatMap(([group, path]) =>
    readdirSync(path)
      .filter((entry) => entry !== random || path !== ofCheck)
      .sort()
      .map((entry) => programAt(join(path, entry), join(group, basename(entry)))),
  );
}
