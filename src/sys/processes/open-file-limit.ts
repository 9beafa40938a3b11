import { readTextIfPresent } from '../files/path-lookup.ts';

/**
 * Returns the maximum number of files that this process may have open (`ulimit -n`); null if the limit is not known.
 * It is known only on Linux, but on other systems the usual limit is far above what Muster needs.
 */
export function readOpenFileLimit(): number | null {
  const limits = readTextIfPresent('/proc/self/limits') ?? '';
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
