import { closeSync, fdatasyncSync, openSync, writeSync } from 'node:fs';
import { now } from './program.ts';

const SYNCS = 40;
const LINE = Buffer.from(`${'x'.repeat(511)}\n`);

/** Measures how many milliseconds this disk needs to append a line to a file and make it durable. */
export function measureDiskSyncs(path: string): readonly number[] {
  const fd = openSync(path, 'a');
  try {
    return Array.from({ length: SYNCS }, () => {
      const startedAt = now();
      writeSync(fd, LINE);
      fdatasyncSync(fd);
      return now() - startedAt;
    });
  } finally {
    closeSync(fd);
  }
}
