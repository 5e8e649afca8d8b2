// Directories and mounts that a test makes, gone when it ends.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

// The user that belljar runs as: not always the one of the tests (tests/rootless/run).
export const user = Number(process.env.E2E_USER ?? process.getuid());

// A directory of that user's; whoever makes it removes it.
export function ownDirectory(name, where = tmpdir()) {
  const directory = mkdtempSync(join(where, name));
  chownSync(directory, user, user);
  return directory;
}

export function temporaryDirectory(t, where = tmpdir()) {
  const directory = ownDirectory('belljar-e2e-', where);
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

// temporaryMount(t, '-t', 'tmpfs', 'tmpfs') is `mount -t tmpfs tmpfs DIRECTORY` and returns the directory.
export function temporaryMount(t, ...mountArguments) {
  const directory = mkdtempSync(join(tmpdir(), 'belljar-e2e-'));
  execFileSync('mount', [...mountArguments, directory]);
  t.after(() => {
    execFileSync('umount', ['--lazy', directory]);
    rmSync(directory, { recursive: true });
  });
  return directory;
}
