import { openSync, readdirSync } from 'node:fs';
import { readTextIfPresent } from '../files/path-lookup.ts';

/**
 * Descriptors from this number on are ignored, because the table for a child has an entry for each lower descriptor.
 */
const MAX_DESCRIPTOR = 1024;
/** The close-on-exec bit among the flags in /proc/PID/fdinfo (proc(5)). */
const CLOSED_ON_EXEC = 0o2000000;

type Entry = 'ignore' | number;

let entries: readonly Entry[] | undefined;

/**
 * Returns `stdio` entries for a child process, from descriptor 3 on. They redirect the descriptors that this process
 * inherited to /dev/null. A child never inherits descriptors that Muster itself opened. Returns an empty list on
 * systems other than Linux.
 */
export function stdioWithoutInherited(): readonly Entry[] {
  try {
    return (entries ??= readEntries());
  } catch {
    // This system has no /proc, or no descriptor is free, in which case the child will also fail to start.
    return [];
  }
}

function readEntries(): readonly Entry[] {
  const inherited = listInheritedDescriptors();
  const last = Math.max(2, ...inherited);
  if (last === 2) return [];
  const nothing = openSync('/dev/null', 'r+');
  return Array.from({ length: last - 2 }, (_, index) =>
    inherited.includes(index + 3) ? nothing : 'ignore',
  );
}

function listInheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter(
      (descriptor) => descriptor > 2 && descriptor < MAX_DESCRIPTOR && isInherited(descriptor),
    );
}

function isInherited(descriptor: number): boolean {
  // The descriptor with which the directory was listed is closed by now, so it has no such file.
  const info = readTextIfPresent(`/proc/self/fdinfo/${descriptor}`) ?? '';
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
}
