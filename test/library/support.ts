import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { createMuster, type Muster, type MusterOptions } from '../../src/library.ts';

const cleanups: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** Creates an empty directory that is deleted after the test. */
export function makeDirectory(): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'muster-library-')));
  cleanups.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Creates an instance in an empty directory, which is closed after the test. A notice fails the test. */
export async function open(options: MusterOptions): Promise<Muster> {
  const muster = await createMuster({
    cwd: makeDirectory(),
    config: { sandbox: { kind: 'off' } },
    ...options,
  });
  cleanups.push(() => muster.close());
  return muster;
}
