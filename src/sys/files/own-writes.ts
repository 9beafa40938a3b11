import { lstatSync, type Stats } from 'node:fs';

/** The state in which this process left the files that it wrote, by path. */
const written = new Map<string, string>();
/** The oldest entries are forgotten first: only writes during a running command matter. */
const MOST = 2_000;

/** Records that Muster itself, and no command, has written the file. `path`: absolute, real. */
export function recordOwnWrite(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  written.delete(path);
  written.set(path, stateOf(stats));
  const [oldest] = written.keys();
  if (written.size > MOST && oldest !== undefined) written.delete(oldest);
}

/** Tells whether the file is unchanged since Muster wrote it. */
export function isOwnWrite(path: string, stats: Stats): boolean {
  return written.get(path) === stateOf(stats);
}

function stateOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}
