import { openSync, readdirSync } from 'node:fs';
import { readTextIfPresent } from '../files/path-lookup.ts';

/** Higher descriptors are ignored, because each start would pay for a table of that many entries. */
const MOST = 1024;
/** The close-on-exec bit among the flags in /proc/PID/fdinfo (proc(5)). */
const CLOSED_ON_EXEC = 0o2000000;

type Entry = 'ignore' | number;

let entries: readonly Entry[] | undefined;

/**
 * Returns `stdio` entries for a child process, from descriptor 3 on, that redirect to /dev/null the descriptors
 * that this process inherited when it was started. Descriptors that Muster itself opens are never inherited by
 * a child. Linux only; empty elsewhere.
 */
export function stdioWithoutInherited(): readonly Entry[] {
  try {
    return (entries ??= readEntries());
  } catch {
    // This is not Linux, or no descriptor is free, so that the child fails to start too.
    return [];
  }
}

function readEntries(): readonly Entry[] {
  const inherited = inheritedDescriptors();
  const last = Math.max(2, ...inherited);
  if (last === 2) return [];
  const nothing = openSync('/dev/null', 'r+');
  return Array.from({ length: last - 2 }, (_, index) =>
    inherited.includes(index + 3) ? nothing : 'ignore',
  );
}

function inheritedDescriptors(): readonly number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && descriptor < MOST && isInherited(descriptor));
}

function isInherited(descriptor: number): boolean {
  // The descriptor that listed the others is closed by now, so it has no file.
  const info = readTextIfPresent(`/proc/self/fdinfo/${descriptor}`) ?? '';
  const flags = /^flags:\s*([0-7]+)$/m.exec(info)?.[1];
  return flags !== undefined && (parseInt(flags, 8) & CLOSED_ON_EXEC) === 0;
}
