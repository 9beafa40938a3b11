import { opendirSync } from 'node:fs';
import { systemErrorCode } from '../../base/errors.ts';

const MAX_ENTRIES = 2000;

/** Returns the first 2,000 names in a directory, for suggestions; empty if the directory cannot be read. */
export function firstDirectoryNames(directory: string): string[] {
  try {
    const names: string[] = [];
    const opened = opendirSync(directory);
    try {
      for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
        names.push(entry.name);
        if (names.length === MAX_ENTRIES) break;
      }
    } finally {
      opened.closeSync();
    }
    return names;
  } catch (thrown) {
    // A suggestion is a courtesy: without a readable directory there is none to give.
    if (systemErrorCode(thrown) !== undefined) return [];
    throw thrown;
  }
}
