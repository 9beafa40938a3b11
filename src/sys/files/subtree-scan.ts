import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { systemErrorCode } from '../../base/errors.ts';

export interface SubtreeEntry {
  /** Absolute. */
  readonly path: string;
  readonly isDirectory: boolean;
  readonly isLink: boolean;
}

export interface ScanLimits {
  readonly maxEntries: number;
  readonly maxMs: number;
}

/** `found`: the first path that the test says yes to. `limit`: there is more than was looked at. */
export type SubtreeScanResult =
  | { readonly end: 'found'; readonly path: string }
  | { readonly end: 'limit' }
  | { readonly end: 'none' };

/** What is not walked into: by number most of a workspace, and copies of what is found elsewhere. */
const NOT_ENTERED: ReadonlySet<string> = new Set(['.git', 'node_modules']);
/** How long other work waits for the walk at a time. */
const SLICE_MS = 10;

/**
 * Looks for an entry below a directory; names in `.git` and `node_modules` are left out, and links not
 * followed. Directories that can't be read hold nothing that could be read.
 */
export async function findInSubtree(
  directory: string,
  test: (entry: SubtreeEntry) => boolean,
  { maxEntries, maxMs }: ScanLimits,
): Promise<SubtreeScanResult> {
  const startedAt = performance.now();
  const waiting = [directory];
  let sliceAt = startedAt;
  let seen = 0;
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const entry of entriesOf(next)) {
      seen += 1;
      if (seen > maxEntries) return { end: 'limit' };
      if (test(entry)) return { end: 'found', path: entry.path };
      if (entry.isDirectory && !NOT_ENTERED.has(nameOf(entry.path))) waiting.push(entry.path);
    }
    const now = performance.now();
    if (now - startedAt > maxMs) return { end: 'limit' };
    if (now - sliceAt > SLICE_MS) {
      await nextTurn();
      sliceAt = performance.now();
    }
  }
  return { end: 'none' };
}

function entriesOf(directory: string): SubtreeEntry[] {
  try {
    return readdirSync(directory, { withFileTypes: true }).map((entry) => ({
      path: join(directory, entry.name),
      isDirectory: entry.isDirectory(),
      isLink: entry.isSymbolicLink(),
    }));
  } catch (thrown) {
    // Gone, no directory, or closed to this user: then a command of theirs finds nothing there either.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
