import { lstatSync, type BigIntStats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError } from './file-errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { requirePathInRoots, type OpenScope } from './open-in-roots.ts';
import { isInside } from './paths.ts';

/** An entry of a directory, by its own name: where that is a link, the link and not what it leads to. */
export interface HeldEntry {
  /** Held as long as the entry is in use. */
  readonly directory: HeldDirectory;
  readonly name: string;
  /** Absolute, without links but for itself. */
  readonly real: string;
  /** The root that holds it. */
  readonly root: string;
  /** Undefined: there is none of that name. */
  readonly stats: BigIntStats | undefined;
}

/**
 * Do something with an entry inside the roots, for what works on names: moving, deleting. What is used is
 * what was judged: a link only by a path that has no other link in it, since what was judged of it is
 * that path and where it leads. No entry is a root, or holds one. Throws MusterError: INVALID_PARAM,
 * NOT_FOUND, PERMISSION_DENIED, CONFLICT.
 */
export async function withHeldEntry<T>(
  path: string,
  place: OpenScope,
  use: (entry: HeldEntry) => Promise<T>,
  options: { readonly makeParents?: boolean } = {},
): Promise<T> {
  const { makeParents = false } = options;
  try {
    requireNoRoot(path, requirePathInRoots(path, place, { mayBeMissing: true }).real, place);
    const parent = requirePathInRoots(
      dirname(path),
      { roots: place.roots },
      { mayBeMissing: makeParents },
    );
    const directory = holdDirectory(parent.root, parent.real, { create: makeParents });
    try {
      const name = basename(path);
      const real = join(parent.real, name);
      const stats = readEntryStats(directory, name);
      requireNoRoot(path, real, place);
      requireJudged(path, { real, parent: parent.real, stats }, place);
      directory.verify();
      return await use({ directory, name, real, root: parent.root, stats });
    } finally {
      directory.close();
    }
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ELOOP') throw changed(path);
    throw toFileError(path, thrown);
  }
}

/** What an entry is at this moment; undefined: it is not there. */
export function readEntryStats(directory: HeldDirectory, name: string): BigIntStats | undefined {
  return lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

function requireNoRoot(path: string, real: string, { roots }: OpenScope): void {
  if (!roots.some((root) => isInside(real, root))) return;
  throw new MusterError('INVALID_PARAM', `${path} is a workspace root, or holds one: it stays`);
}

interface FoundEntry {
  readonly real: string;
  readonly parent: string;
  readonly stats: BigIntStats | undefined;
}

function requireJudged(path: string, { real, parent, stats }: FoundEntry, place: OpenScope): void {
  if (requirePathInRoots(path, place, { mayBeMissing: true }).real === real) return;
  if (stats?.isSymbolicLink() !== true) throw changed(path);
  if (parent === dirname(path)) return;
  throw new MusterError(
    'INVALID_PARAM',
    `${path} is a link that is reached through another one: name it as ${real}`,
  );
}

function changed(path: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `${path} was changed by somebody else just now; nothing was done. Look at it again.`,
    { retryable: true },
  );
}
