// Checks, as rows of a table that is printed and, with --report, kept in docs/endurance.md.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, release } from 'node:os';

import { root } from '../../e2e/lib/belljar.mjs';

const file = `${root}docs/endurance.md`;
const introduction = `# Endurance

Written by \`tests/endurance/cycles --report\`, \`soak --report\` and \`kills --report\`; tests/endurance/README.md says what they do.
`;

export class Table {
  passed = 0;
  failed = 0;
  skipped = 0;
  #rows = [];

  constructor(name, header) {
    this.name = name;
    this.header = [...header, 'verdict'];
  }

  check(cells, good) {
    if (good) this.passed++;
    else this.failed++;
    this.#rows.push([...cells.map(String), good ? 'ok' : 'FAILED']);
  }

  // A row that nothing is demanded of.
  note(cells) {
    this.#rows.push([...cells.map(String), '']);
  }

  toString() {
    const widths = this.header.map((title, column) => Math.max(title.length, ...this.#rows.map((cells) => cells[column].length)));
    const line = (cells) => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
    return [line(this.header), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...this.#rows.map(line)].join('\n');
  }

  // Prints the table, keeps it if asked to, and sets the exit status.
  finish(title, keep) {
    console.log(`\n${title}\n\n${this}\n`);
    if (keep) this.#keep(title);
    console.log(`${this.passed} passed, ${this.failed} failed, ${this.skipped} skipped`);
    process.exitCode = this.failed > 0 ? 1 : 0;
  }

  #keep(title) {
    const git = (...args) => execFileSync('git', ['-c', 'safe.directory=*', '-C', root, ...args], { encoding: 'utf8' }).trim();
    const commit = git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--', 'src') ? ' with changes' : '');
    const where = `${new Date().toISOString().slice(0, 10)}, commit ${commit}, Linux ${release()}, ${cpus().length} CPUs`;
    const [begin, end] = [`<!-- ${this.name} -->`, `<!-- /${this.name} -->`];
    const section = `${begin}\n## ${title}\n\n${where}.\n\n${this}\n${end}`;
    const old = existsSync(file) ? readFileSync(file, 'utf8') : introduction;
    const [from, to] = [old.indexOf(begin), old.indexOf(end)];
    writeFileSync(file, from < 0 ? `${old}\n${section}\n` : old.slice(0, from) + section + old.slice(to + end.length));
  }
}
