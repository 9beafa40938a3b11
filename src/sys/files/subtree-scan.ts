import { basename, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { readDirectoryEntries } from './path-lookup.ts';

/** An entry that the scan has found. */
export interface SubtreeEntry {
  /** Absolute. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

/** The limits of a scan: entries and milliseconds. */
export interface ScanLimits {
  readonly maxEntries: number;
  readonly maxMs: number;
}

/**
 * The result of a scan. `found`: `path` is the first path that passed the test. `limit`: the scan stopped at a
 * limit. `none`: no path passed the test.
 */
export type SubtreeScanResult =
  | { readonly end: 'found'; readonly path: string }
  | { readonly end: 'limit' }
  | { readonly end: 'none' };

/**
 * Directories that are not searched: they contain most files of a workspace, and those are copies from elsewhere.
 */
const SKIPPED_DIRECTORIES: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** The time after which the scan lets other work run, in milliseconds. */
const SLICE_MS = 10;

/**
 * Searches the entries below a directory, without following links and without entering `.git` and
 * `node_modules`. Directories that cannot be read are skipped.
 */
export async function findInSubtree(
  directory: string,
  test: (entry: SubtreeEntry) => boolean,
  { maxEntries, maxMs }: ScanLimits,
): Promise<SubtreeScanResult> {
  const startedAt = performance.now();
  const waiting = [directory];
  let sliceStartedAt = startedAt;
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of listEntries(next)) {
      seen += 1;
      if (seen > maxEntries) return { end: 'limit' };
      if (test(entry)) return { end: 'found', path: entry.path };
      if (entry.isDirectory && !SKIPPED_DIRECTORIES.has(basename(entry.path)))
        waiting.push(entry.path);
    }
    const now = performance.now();
    if (now - startedAt > maxMs) return { end: 'limit' };
    if (now - sliceStartedAt > SLICE_MS) {
      await nextTurn();
      sliceStartedAt = performance.now();
    }
  }
  return { end: 'none' };
}

function listEntries(directory: string): readonly SubtreeEntry[] {
  return readDirectoryEntries(directory).map((entry) => ({
    path: join(directory, entry.name),
    isDirectory: entry.isDirectory(),
    isLink: entry.isSymbolicLink(),
  }));
}
