import { opendirSync } from 'node:fs';
import { systemErrorCode } from '../../base/errors.ts';

const MAX_SUGGESTED = 2000;

/** Returns the first 2,000 names in a directory, for suggestions; empty if the directory cannot be read. */
export function firstDirectoryNames(directory: string): readonly string[] {
  try {
    return readFirstNames(directory, MAX_SUGGESTED);
  } catch (thrown) {
    // A suggestion is a courtesy, and a directory that cannot be read has none to give.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}

/** Returns at most so many names of a directory, whatever its size. Throws the error of the system. */
export function readFirstNames(directory: string, most: number): readonly string[] {
  const names: string[] = [];
  const opened = opendirSync(directory);
  try {
    while (names.length < most) {
      const entry = opened.readSync();
      if (entry === null) break;
      names.push(entry.name);
    }
  } finally {
    opened.closeSync();
  }
  return names;
}
