import { readTextIfPresent } from '../files/path-lookup.ts';

/**
 * Returns how many files this process may have open (`ulimit -n`); null if that is not known. Only Linux tells, but the
 * usual limit of other systems is far above what Muster needs.
 */
export function readOpenFileLimit(): number | null {
  const limits = readTextIfPresent('/proc/self/limits') ?? '';
  const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
  return soft === undefined ? null : Number(soft);
}
