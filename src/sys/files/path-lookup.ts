import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** None of what is missing or no directory. */
export function directoryNames(directory: string): readonly string[] {
  return readDirectoryNames(directory) ?? [];
}

/** Null: it is missing, no directory, or can't be listed. */
export function readDirectoryNames(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    // Whatever the reason is, nothing is known of what lies there.
    return null;
  }
}

export function lstatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Not ours to look at, nor the command's.
    return undefined;
  }
}

export function realPathIfPresent(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, or a link that leads nowhere: nothing is there to be hidden or shown.
    return undefined;
  }
}

/** The path by the real one of the directory that it is missing in. */
export function resolveMissingPath(missing: string | undefined): string | undefined {
  const parent = missing === undefined ? undefined : realPathIfPresent(dirname(missing));
  return missing === undefined || parent === undefined
    ? undefined
    : join(parent, basename(missing));
}

/** The first part of a path (absolute) that is a link; undefined: none is, as far as it is there. */
export function findFirstLink(path: string): string | undefined {
  let at = '/';
  for (const name of dirname(path).split('/')) {
    at = join(at, name);
    const stats = lstatIfPresent(at);
    if (stats === undefined) return undefined;
    if (stats.isSymbolicLink()) return at;
  }
  return undefined;
}

/** What is reached through a link is something else. */
export function existsWithoutLinks(path: string): boolean {
  return findFirstLink(path) === undefined && lstatIfPresent(path) !== undefined;
}
