import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Clock } from '../../src/base/clock.ts';

/** Creates a private directory that is removed after the test. */
export function tempDir(): string {
  const directory = mkdtempSync(join(tmpdir(), 'muster-store-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** Creates a clock that advances by one millisecond for each reading. */
export function tickingClock(start = 1_000): Clock {
  let time = start;
  return { now: () => (time += 1), monotonic: () => time };
}

export async function collect<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}
