import { opendirSync, type Dirent } from 'node:fs';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { systemErrorCode } from '../../base/errors.ts';

const MAX_ENTRIES = 2000;

/** Yields the entries of a directory one by one, so that a huge directory need not be read to its end. */
export function* directoryEntries(directory: string): Generator<Dirent, void, undefined> {
  const opened = opendirSync(directory);
  using _close = atScopeEnd(() => opened.closeSync());
  for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) yield entry;
}

/** Returns the first 2,000 names in a directory, for suggestions; empty if the directory cannot be read. */
export function firstDirectoryNames(directory: string): string[] {
  try {
    const names: string[] = [];
    for (const { name } of directoryEntries(directory)) {
      names.push(name);
      if (names.length === MAX_ENTRIES) break;
    }
    return names;
  } catch (thrown) {
    // Suggestions are optional, so a directory that cannot be read is no error.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}
