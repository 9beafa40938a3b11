import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A directory of its own under the temporary directory, removed when the test is over. */
export function tempDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'muster-test-')));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
