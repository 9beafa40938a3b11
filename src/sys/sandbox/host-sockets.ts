import { lstatSync, readFileSync, realpathSync } from 'node:fs';

/**
 * The maximum number of sockets that are hidden one by one, because each may cost a mount. Most sockets lie in
 * directories that the sandbox replaces anyway.
 */
const MOST_SOCKETS = 1000;

/**
 * Lists the real paths of the Unix sockets of this machine: the ones that the kernel lists for this network
 * namespace (proc(5), /proc/net/unix), and the ones in `further`. Each is hidden separately, because a
 * read-only file system does not prevent connections to a socket.
 */
export function listHostSockets(further: readonly string[]): readonly string[] {
  const listed = parseSocketTable(readTable());
  return [...new Set([...further, ...listed].flatMap(realSocket))].slice(0, MOST_SOCKETS);
}

/** Returns the last column of each row that holds a path there. */
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
