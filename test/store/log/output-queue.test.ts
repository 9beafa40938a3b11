import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { DescriptorCache } from '../../../src/store/files/descriptor-cache.ts';
import { nodeFiles } from '../../../src/store/files/node-files.ts';
import { OutputQueue } from '../../../src/store/log/output-queue.ts';

/** The time within which all texts are written. */
const MAX_MS = 6_000;
/** The longest time that one write may block. */
const SLOW_MS = 10;

function compute(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

it('writes the texts of many tasks on a slow disk while the process is busy', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'muster-output-'));
  const files = {
    ...nodeFiles,
    openNew: (path: string) => {
      compute(SLOW_MS);
      return nodeFiles.openNew(path);
    },
  };
  const pathOf = (id: string): string => join(directory, id);
  const queue = new OutputQueue(files, new DescriptorCache(files, 100), pathOf);
  const ids = Array.from({ length: 12 }, (_, index) => `task${index}`);
  const atWork = setInterval(() => compute(8), 10);
  try {
    for (const id of ids) queue.add(id, 'a line\n');
    const missing = (): readonly string[] => ids.filter((id) => !existsSync(pathOf(id)));
    const startedAt = performance.now();
    while (missing().length > 0 && performance.now() - startedAt < MAX_MS) await sleep(100);
    expect(missing()).toEqual([]);
  } finally {
    clearInterval(atWork);
    queue.flush();
    rmSync(directory, { recursive: true });
  }
});
