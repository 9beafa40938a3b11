import { lstatSync, type Stats } from 'node:fs';

/** How the files that this process has written were left, by path. */
const written = new Map<string, string>();
/** The oldest are forgotten first: what matters is what was written while a command ran. */
const MOST = 2_000;

/** Notes that Muster itself, and no command, has written the file. `path`: absolute, real. */
export function recordOwnWrite(path: string): void {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  written.delete(path);
  written.set(path, stateOf(stats));
  const [oldest] = written.keys();
  if (written.size > MOST && oldest !== undefined) written.delete(oldest);
}

/** Whether the file is as Muster itself left it. */
export function isOwnWrite(path: string, stats: Stats): boolean {
  return written.get(path) === stateOf(stats);
}

function stateOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs, ctimeMs].join(' ');
}
