import { lstatSync, readdirSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** None of what is missing or no directory. */
export function namesOf(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    // Missing, or not ours to list: then the command, which is the same user, can't either.
    return [];
  }
}

export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // Not ours to look at, nor the command's.
    return undefined;
  }
}

export function realPath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    // Missing, or a link that leads nowhere: nothing is there to be hidden or shown.
    return undefined;
  }
}

/** The path by the real one of the directory that it is missing in. */
export function realParent(missing: string | undefined): string | undefined {
  const parent = missing === undefined ? undefined : realPath(dirname(missing));
  return missing === undefined || parent === undefined
    ? undefined
    : join(parent, basename(missing));
}
