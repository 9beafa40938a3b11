import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PRIVATE_MODE = 0o700;

/** Creates a directory that only the user can use, independently of the umask. */
export function makeUserOnlyDirectory(path: string): void {
  mkdirSync(path, { mode: PRIVATE_MODE });
  // A umask such as 0277 takes rights away from the user, too.
  chmodSync(path, PRIVATE_MODE);
}

/** Creates a directory with a new name in the temporary directory that only the user can use. Returns its real path. */
export function makeUserOnlyTempDirectory(prefix: string): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  chmodSync(path, PRIVATE_MODE);
  return realpathSync(path);
}
