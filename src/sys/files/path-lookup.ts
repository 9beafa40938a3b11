import {
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  type Dirent,
  type Stats,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** Returns the names in a directory; an empty list if the directory cannot be listed. */
export function directoryNames(directory: string): readonly string[] {
  return readDirectoryNames(directory) ?? [];
}

/** Returns the names in a directory; null if the path is missing, not a directory, or not readable. */
export function readDirectoryNames(directory: string): readonly string[] | null {
  try {
    return readdirSync(directory);
  } catch {
    // Callers treat all reasons alike: nothing is known about the content.
    return null;
  }
}

/** Returns the entries of a directory with their types; an empty list if the directory cannot be listed. */
export function readDirectoryEntries(directory: string): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true });
  } catch {
    // The directory is missing or was removed, the path is not a directory, or this user may not read it.
    return [];
  }
}

/**
 * Returns the stats of an entry without following a link; undefined if the entry does not exist or cannot be inspected.
 */
export function lstatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // This user may not inspect the entry, so a command of this user may not either.
    return undefined;
  }
}

/** Returns the stats of a path, following links; undefined if the target does not exist or cannot be inspected. */
export function statIfPresent(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    // A part of the path is a file, is closed to this user, or is a link that leads in a circle.
    return undefined;
  }
}

/** Returns the text of a small file, for example in /proc; undefined if the file does not exist or cannot be read. */
export function readTextIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // This system does not have the file, its process has ended, or this user may not read it.
    return undefined;
  }
}

/** Returns the real path; undefined if the path does not exist or is a link to nothing. */
export function realPathIfPresent(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // The path is missing or a link without a target, so no real path exists.
    return undefined;
  }
}

/**
 * Resolves the links in the directory of a path that does not exist; undefined if the directory does not exist either.
 */
export function resolveMissingPath(missing: string | undefined): string | undefined {
  const parent = missing === undefined ? undefined : realPathIfPresent(dirname(missing));
  return missing === undefined || parent === undefined
    ? undefined
    : join(parent, basename(missing));
}

/** Returns the first directory in a path (absolute) that is a link; undefined if there is none. */
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

/** Tells whether an entry exists at a path and no directory in the path is a link. */
export function existsWithoutLinks(path: string): boolean {
  return findFirstLink(path) === undefined && lstatIfPresent(path) !== undefined;
}
