import { lstatSync, type Stats } from 'node:fs';

/** The state of each file right after this process wrote the file, by path. */
const written = new Map<string, string>();
/** The maximum number of entries. The oldest are removed first, because only writes during a running command matter. */
const MAX_ENTRIES = 2_000;

/** Is called directly before and directly after Muster itself changes a path (absolute, without links). */
export interface OwnChangeListener {
  before(path: string): void;
  after(path: string): void;
}

const listeners = new Set<OwnChangeListener>();

/** Adds a listener for all changes that Muster itself makes. Returns a function that removes it. */
export function listenToOwnChanges(listener: OwnChangeListener): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

/**
 * Runs a synchronous change that Muster itself, and not a command, makes to these paths: absolute and without links; a
 * directory includes everything in it.
 */
export function changeAsMuster<T>(paths: readonly string[], change: () => T): T {
  for (const path of paths) beginOwnChange(path);
  const result = change();
  for (const path of paths) endOwnChange(path);
  return result;
}

/** Must be called before another process of Muster changes a path on behalf of this one. */
export function beginOwnChange(path: string): void {
  for (const listener of listeners) listener.before(path);
}

/** Must be called after another process of Muster has changed a path on behalf of this one. */
export function endOwnChange(path: string): void {
  recordOwnWrite(path);
  for (const listener of listeners) listener.after(path);
}

function recordOwnWrite(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  written.delete(path);
  if (stats === undefined) return;
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
