import { lstatSync, rmSync } from 'node:fs';
import { newId } from '../../base/ids.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { directoryEntries } from './directory-names.ts';
import type { HeldDirectory } from './held-directory.ts';

const NAME = /^\.muster-[a-z0-9]{8,32}\.tmp$/;
/** An older file was left behind by a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1000;
/** The number of entries of a directory that are checked. */
const MAX_ENTRIES = 10_000;
const MAX_SWEPT = 1000;

/** Returns an unused name for a file that is written next to the file that it will replace. */
export function temporaryName(): string {
  return `.muster-${newId()}.tmp`;
}

const swept = new Set<string>();

/** Removes files that killed writers have left in a directory, once for each directory and process. */
export function sweepTemporaries(directory: HeldDirectory): void {
  try {
    if (isFirstSweep(directory)) {
      for (const name of temporariesIn(directory)) removeAbandoned(directory.at(name));
    }
  } catch (thrown) {
    // Remaining files do no harm, and the write itself has succeeded.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}

function isFirstSweep(directory: HeldDirectory): boolean {
  // A new directory may get the inode number of a removed one.
  const { dev, ino, birthtimeNs } = lstatSync(directory.at('.'), { bigint: true });
  const identity = `${dev}:${ino}:${birthtimeNs}`;
  if (swept.has(identity)) return false;
  if (swept.size >= MAX_SWEPT) swept.clear();
  swept.add(identity);
  return true;
}

function temporariesIn(directory: HeldDirectory): readonly string[] {
  const names: string[] = [];
  let seen = 0;
  for (const { name } of directoryEntries(directory.at('.'))) {
    if (NAME.test(name)) names.push(name);
    seen += 1;
    if (seen === MAX_ENTRIES) break;
  }
  return names;
}

function removeAbandoned(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found?.isFile() !== true || found.uid !== process.getuid?.()) return;
  if (Date.now() - found.mtimeMs > ABANDONED_MS) rmSync(path, { force: true });
}
