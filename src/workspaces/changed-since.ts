import { join } from 'node:path';
import { lstatIfPresent, readDirectoryNames } from '../sys/files/path-lookup.ts';

/**
 * Tells whether an entry of a directory was changed after a time (an ISO date), by the times that no program can set.
 * Nothing below `leaveOut` (paths relative to the directory) is looked at.
 */
export function hasChangedSince(
  directory: string,
  time: string,
  leaveOut: readonly string[],
): boolean {
  const since = Date.parse(time);
  const skipped = new Set(leaveOut);
  const waiting = [''];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    const stats = lstatIfPresent(join(directory, at));
    if (stats === undefined) continue;
    if (stats.ctimeMs > since) return true;
    if (!stats.isDirectory()) continue;
    for (const name of readDirectoryNames(join(directory, at)) ?? []) {
      const path = at === '' ? name : `${at}/${name}`;
      if (!skipped.has(path)) waiting.push(path);
    }
  }
  return false;
}
