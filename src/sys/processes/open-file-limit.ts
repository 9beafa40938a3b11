import { readFileSync } from 'node:fs';

/** Returns how many files this process may have open (`ulimit -n`); null if that is not known. */
export function readOpenFileLimit(): number | null {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = /^Max open files\s+(\d+)/m.exec(limits)?.[1];
    return soft === undefined ? null : Number(soft);
  } catch {
    // Only Linux has this file. The usual limit of other systems is far above what Muster needs.
    return null;
  }
}
