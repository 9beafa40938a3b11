import { lstatSync, type Stats } from 'node:fs';

/** The state of each file right after this process wrote the file, by path. */
const written = new Map<string, string>();
/** The maximum number of entries. The oldest are removed first, because only writes during a running command matter. */
const MAX_ENTRIES = 2_000;

/** Records that Muster itself, and not a command, has written a file. `path` is absolute and contains no links. */
export function recordOwnWrite(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  written.delete(path);
  written.set(path, describeState(stats));
  const [oldest] = written.keys();
  if (written.size > MAX_ENTRIES && oldest !== undefined) written.delete(oldest);
}

/** Tells whether Muster wrote a file and the file has not changed since then. */
export function isOwnWrite(path: string, stats: Stats): boolean {
  return written.get(path) === describeState(stats);
}

function describeState({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}
