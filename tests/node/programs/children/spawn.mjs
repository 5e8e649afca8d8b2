// A child, its output, and what it sees.
import { spawn } from 'node:child_process';
const child = spawn('sh', ['-c', 'cat; echo "$OWN" >&2; exit 5'], { env: { ...process.env, OWN: 'own' } });
const seen = { out: '', err: '', exit: null };
child.stdout.setEncoding('utf8').on('data', (text) => (seen.out += text));
child.stderr.setEncoding('utf8').on('data', (text) => (seen.err += text));
child.stdin.end('input');
child.on('spawn', () => console.log('spawn', child.spawnfile, child.spawnargs));
child.on('exit', (...values) => (seen.exit = values)); // may come before the last of the output
child.on('close', (...values) => console.log('close', ...values, seen, child.exitCode, child.connected));
