// Directories and mounts that a test makes, gone when it ends.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function temporaryDirectory(t, where = tmpdir()) {
  const directory = mkdtempSync(join(where, 'belljar-e2e-'));
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
