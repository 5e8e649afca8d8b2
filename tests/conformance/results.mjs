// Turns what the conformance suites left into TAP: results.mjs FOLDER TAP-FILE SUITE…
// Every check of every scenario is a test; the exit status of a suite is one more. Prints what failed, and ends with
// "N passed, N failed, N skipped".
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const [folder, tapFile, ...suites] = process.argv.slice(2);
const lines = [];
const count = { passed: 0, failed: 0, skipped: 0 };

function report(outcome, name, why = '') {
  count[outcome] += 1;
  const skip = outcome === 'skipped' ? ` # SKIP ${why}` : '';
  lines.push(`${outcome === 'failed' ? 'not ok' : 'ok'} ${lines.length + 1} - ${name}${skip}`);
  if (outcome === 'failed') console.log(`not ok ${name}: ${why}`);
}

// The suite itself leaves these out, whatever the server does.
const unwritten = new Set(['tasks-status-notifications']);

function outcomeOf(check) {
  if (check.status === 'SUCCESS' || check.status === 'INFO') return 'passed';
  return check.status === 'SKIPPED' ? 'skipped' : 'failed'; // a warning is a "should" that we do not keep
}

function reportScenario(suite, directory) {
  // server-<scenario>-<time>
  const scenario = path.basename(directory).replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\dTZ-]+$/, '');
  const checks = path.join(directory, 'checks.json');
  if (!existsSync(checks)) return report('failed', `${suite} ${scenario}`, 'it left no checks');
  for (const check of JSON.parse(readFileSync(checks, 'utf8'))) {
    if (check.status === 'SKIPPED' && unwritten.has(check.id)) continue;
    const why = (check.errorMessage ?? '').replaceAll('\n', ' ').replaceAll('#', '');
    report(outcomeOf(check), `${suite} ${scenario} ${check.id}`, why);
  }
}

for (const suite of suites) {
  const results = path.join(folder, suite);
  const scenarios = existsSync(results) ? readdirSync(results).sort() : [];
  for (const name of scenarios) reportScenario(suite, path.join(results, name));
  const status = readFileSync(path.join(folder, `${suite}.status`), 'utf8').trim();
  const ran = scenarios.length > 0 && status === '0';
  report(ran ? 'passed' : 'failed', `${suite} ends well`, `exit status ${status}, ${scenarios.length} scenarios; see ${results}.log`);
}
writeFileSync(tapFile, `TAP version 13\n1..${lines.length}\n${lines.join('\n')}\n`);
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`);
process.exit(count.failed === 0 ? 0 : 1);
