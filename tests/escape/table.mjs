// The results of the last run of tests/escape, and of what tests/network tried, as Markdown: table.mjs TAP… [DOCUMENT]. With a document
// (SECURITY.md) what is between its two markers is replaced; else it is printed. Fails if an attack was neither tried nor excused.
import { readFileSync, writeFileSync } from 'node:fs';
import { release } from 'node:os';

import { attacks, classOf, idsIn, notApplicable, results } from './lib/attacks.mjs';

const titles = {
  NS: 'namespaces, mounts, root directory', PS: '`/proc` and `/sys`', DV: 'devices and terminals', CP: 'capabilities and ids', SC: 'system call filter', KS: 'kernel surface', RS: 'resources', HF: 'files and output',
  IJ: 'arguments', NW: 'network', NP: 'packages', MH: 'protocol', ZY: 'reserve and reuse', PT: 'persistence', IL: 'information leaks', DK: 'Docker driver', KU: 'Kubernetes driver',
};
const begin = '<!-- attacks:begin -->';
const end = '<!-- attacks:end -->';

const taps = process.argv.slice(2).filter((path) => path.endsWith('.tap'));
const document = process.argv.slice(2).find((path) => !path.endsWith('.tap'));
const outcomes = {}; // { id: set of outcomes of its tests }
let controls = 0;
for (const { name, outcome } of taps.flatMap((tap) => results(readFileSync(tap, 'utf8')))) {
  if (/\bcontrol\b/.test(name)) controls += outcome === 'passed' ? 1 : 0;
  else for (const id of idsIn(name)) (outcomes[id] ??= new Set()).add(outcome);
}

// One word per attack; the worst of its tests.
const verdict = (id) =>
  notApplicable[id] ? 'not applicable' : ['failed', 'weakness', 'skipped', 'passed'].find((outcome) => outcomes[id]?.has(outcome)) ?? 'not tried';
const ids = Object.keys(attacks);
const of = (class_, wanted) => ids.filter((id) => (!class_ || classOf(id) === class_) && (!wanted || verdict(id) === wanted));
const bad = [...of('', 'failed'), ...of('', 'not tried'), ...of('', 'skipped')];

const row = (...cells) => `| ${cells.join(' | ')} |`;
const counts = (class_) => [of(class_).length, of(class_, 'passed').length, of(class_, 'not applicable').length, of(class_, 'weakness').join(' ') || '–'];
const reasons = Map.groupBy(Object.keys(notApplicable), (id) => notApplicable[id]);
const lines = [
  `Written by \`tests/escape/run --table\` on Linux ${release().replace(/-.*/, '')}, ${process.arch}. An attack counts as passed if all its tests are; ${controls} positive controls show attacks succeeding with a layer left out.`,
  '',
  row('class', 'attacks', 'passed', 'not applicable', 'known weaknesses'), row('---', '---', '---', '---', '---'),
  ...Object.keys(titles).map((class_) => row(`${class_}: ${titles[class_]}`, ...counts(class_))),
  row('all', ...counts('')),
  '',
  ...(bad.length ? [`Not proven in this run: ${bad.map((id) => `${id} (${verdict(id)})`).join(', ')}.`, ''] : []),
  'Not applicable:',
  '',
  ...[...reasons].map(([reason, all]) => `- ${all.join(', ')}: ${reason}.`),
].join('\n');

if (document) {
  const text = readFileSync(document, 'utf8');
  const [from, to] = [text.indexOf(begin), text.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${document} has no ${begin} … ${end}`);
  writeFileSync(document, `${text.slice(0, from + begin.length)}\n${lines}\n${text.slice(to)}`);
} else {
  console.log(lines);
}
if (bad.length) {
  console.error(`not proven: ${bad.join(' ')}`);
  process.exitCode = 1;
}
