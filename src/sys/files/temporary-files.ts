import { lstatSync, rmSync } from 'node:fs';
import { newId } from '../../base/ids.ts';
import { systemErrorCode } from '../../base/errors.ts';
import { directoryEntries } from './directory-names.ts';
import type { HeldDirectory } from './held-directory.ts';

const NAME = /^\.muster-[a-z0-9]{8,32}\.tmp$/;
/** The age in milliseconds from which a temporary file counts as left behind by a process that was killed. */
const ABANDONED_MS = 60 * 60 * 1000;
/** The number of entries of a directory that are checked. */
const MAX_ENTRIES = 10_000;
const MAX_CLEANED_DIRECTORIES = 1000;

/** The newest names that this process has given to temporary files. */
const givenNames = new Set<string>();
const MAX_GIVEN_NAMES = 1_000;

/**
 * Returns an unused name for a file that is written next to the file that it will replace. `id` makes the name known to
 * other processes: 8 to 32 characters of `[a-z0-9]`. Default: random.
 */
export function temporaryName(id: string = newId()): string {
  const name = `.muster-${id}.tmp`;
  addGivenName(name);
  return name;
}

/**
 * Records a name that another process of Muster gives to a temporary file on behalf of this one. Ignores a name that
 * temporary files do not have.
 */
export function addGivenName(name: string): void {
  if (!NAME.test(name)) return;
  givenNames.add(name);
  const [oldest] = givenNames;
  if (givenNames.size > MAX_GIVEN_NAMES && oldest !== undefined) givenNames.delete(oldest);
  onGivenName?.(name);
}

let onGivenName: ((name: string) => void) | null = null;

/** Calls `listener` with each name that this process gives to a temporary file. Replaces an earlier listener. */
export function listenToGivenNames(listener: (name: string) => void): void {
  onGivenName = listener;
}

/** Tells whether a name is that of a temporary file whose id begins with `id`. */
export function isTemporaryOf(id: string, name: string): boolean {
  return NAME.test(name) && name.startsWith(`.muster-${id}`);
}

/** Tells whether this process has given a name to a temporary file. */
export function isOwnTemporaryName(name: string): boolean {
  return givenNames.has(name);
}

const cleanedDirectories = new Set<string>();

/**
 * Removes temporary files that killed processes have left in a directory. Each process does this once for a directory.
 */
export function removeAbandonedTemporaries(directory: HeldDirectory): void {
  try {
    if (isFirstCleanup(directory)) {
      for (const name of listTemporaryFiles(directory)) removeAbandoned(directory.at(name));
    }
  } catch (thrown) {
    // Remaining files do no harm, and the write itself has succeeded.
    if (systemErrorCode(thrown) === undefined) throw thrown;
  }
}

function isFirstCleanup(directory: HeldDirectory): boolean {
  // A new directory may get the inode number of a removed one.
  const { dev, ino, birthtimeNs } = lstatSync(directory.at('.'), { bigint: true });
  const identity = `${dev}:${ino}:${birthtimeNs}`;
  if (cleanedDirectories.has(identity)) return false;
  if (cleanedDirectories.size >= MAX_CLEANED_DIRECTORIES) cleanedDirectories.clear();
  cleanedDirectories.add(identity);
  return true;
}

function listTemporaryFiles(directory: HeldDirectory): readonly string[] {
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
