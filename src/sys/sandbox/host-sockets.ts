import { lstatSync, readFileSync, realpathSync } from 'node:fs';

/** More are not hidden one by one: each may cost a mount. Most lie where nothing of the host is there. */
const MOST_SOCKETS = 1000;

/**
 * The Unix sockets of this machine that have a path, without links: those that the kernel lists for
 * this network namespace (proc(5), /proc/net/unix), and `further` ones. A read-only file system keeps
 * nobody from connecting to one, so each is hidden by itself.
 */
export function listHostSockets(further: readonly string[]): readonly string[] {
  const listed = parseSocketTable(readTable());
  return [...new Set([...further, ...listed].flatMap(realSocket))].slice(0, MOST_SOCKETS);
}

/** The last column, where it is a path. */
export function parseSocketTable(table: string): readonly string[] {
  return table.split('\n').flatMap((line) => /^(?:\S+\s+){7}(\/.*)$/.exec(line)?.[1] ?? []);
}

function readTable(): string {
  try {
    return readFileSync('/proc/net/unix', 'utf8');
  } catch {
    // Not Linux, or a kernel without them.
    return '';
  }
}

function realSocket(path: string): readonly string[] {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true
      ? [realpathSync.native(path)]
      : [];
  } catch {
    // Not ours to reach, nor the command's.
    return [];
  }
}
