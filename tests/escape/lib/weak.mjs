// A belljar whose launcher leaves out some layers of the containment, in throw-away mount, pid, network and host name
// namespaces: where an attack must succeed, or get as far as the next layer, for its refusal elsewhere to mean something.
import { spawn } from 'node:child_process';
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { belljar, environment } from '../../e2e/lib/belljar.mjs';
import { Server } from '../../e2e/lib/stdio.mjs';
import { isUsers } from './applies.mjs';
import { Jar } from './jar.mjs';

// Where belljar is a user's, tests/rootless/lib.sh has made `belljar` a script that starts bin/belljar as that user, and
// `as-user` one that starts anything so.
const program = isUsers ? join(dirname(belljar), 'bin/belljar') : belljar;
const asWhom = isUsers ? join(dirname(belljar), 'as-user') : '';
export const weakLauncher = join(dirname(belljar), 'belljar-launcher-weak');
const posture = 'check the posture'; // the step that would notice most of what can be left out

// `layers`: names of steps, or of what is_left_out() is asked for in src/drivers/linux/launcher. `prepare`: shell
// commands that run in the throw-away namespaces, before the server. The check of the posture is left out, too, unless
// `checked`.
export async function without(t, layers, { checked = false, prepare = ':', env = {} } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'belljar-weak-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  chmodSync(folder, 0o755);
  copyFileSync(program, join(folder, 'belljar'));
  copyFileSync(weakLauncher, join(folder, 'belljar-launcher'));
  writeFileSync(join(folder, 'belljar-launcher.weak'), [...layers, ...(checked ? [] : [posture])].map((layer) => `${layer}\n`).join(''));
  const jar = new Jar();
  // The shell stays: the namespace ends with its first process, and the launcher needs a moment after belljar's end.
  const script = `${prepare}; ${asWhom} "$0" mcp; while pgrep -x belljar-launche >/dev/null; do sleep 0.01; done`;
  jar.server = new Server(spawn('unshare', ['-mpnuf', '--kill-child', '--mount-proc', '/bin/sh', '-c', script, join(folder, 'belljar')],
    { env: environment({ BELLJAR_SPARE_SANDBOXES: '0', ...env }), stdio: ['pipe', 'pipe', 'pipe'] }));
  t.after(() => jar.server.stop());
  await jar.server.initialize();
  return jar;
}
