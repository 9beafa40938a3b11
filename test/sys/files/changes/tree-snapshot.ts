import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** The content and the permission bits of one entry that is not a directory. */
interface EntryState {
  readonly hash: string;
  readonly mode: number;
}

export type TreeSnapshot = ReadonlyMap<string, EntryState>;

/** Reads all entries below a directory, without what commands may change unlisted. */
export function takeSnapshot(directory: string): TreeSnapshot {
  const found = new Map<string, EntryState>();
  const visit = (at: string): void => {
    for (const name of readdirSync(at)) {
      const path = join(at, name);
      const stats = lstatSync(path);
      if (stats.isDirectory()) {
        if (name !== '.git' && name !== 'node_modules') visit(path);
        continue;
      }
      const hash = stats.isSymbolicLink()
        ? `link:${readlinkSync(path)}`
        : stats.isFile()
          ? createHash('sha256').update(readFileSync(path)).digest('hex')
          : 'special:pipe';
      found.set(path, { hash, mode: stats.mode & 0o7777 });
    }
  };
  visit(directory);
  return found;
}

/** A change as a receipt and as a comparison of two snapshots describe it. */
export interface ComparableChange {
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
  readonly oldMode: number | null;
  readonly newMode: number | null;
}

/** Compares two snapshots. */
export function compareSnapshots(
  before: TreeSnapshot,
  after: TreeSnapshot,
): readonly ComparableChange[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].toSorted().flatMap((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    if (old?.hash === now?.hash && old?.mode === now?.mode) return [];
    return [
      {
        path,
        before: old?.hash ?? null,
        after: now?.hash ?? null,
        oldMode: old?.mode ?? null,
        newMode: now?.mode ?? null,
      },
    ];
  });
}
