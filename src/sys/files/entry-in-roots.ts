import { lstatSync, type BigIntStats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError, systemErrorCode } from '../../base/errors.ts';
import { toFileError } from './file-errors.ts';
import { holdDirectory, type HeldDirectory } from './held-directory.ts';
import { requirePathInRoots, type OpenScope } from './open-in-roots.ts';
import { isInside } from '../../base/path-inside.ts';

/** An entry of a directory by its own name. If the entry is a link, this is the link and not its target. */
export interface HeldEntry {
  /** The directory, which is held as long as the entry is in use. */
  readonly directory: HeldDirectory;
  readonly name: string;
  /** The absolute path, without links except the entry itself. */
  readonly real: string;
  /** The root that contains the entry. */
  readonly root: string;
  /** Undefined if there is no entry of that name. */
  readonly stats: BigIntStats | undefined;
}

/**
 * Calls `use` with an entry inside the roots, for operations on names such as moving and deleting. The entry must
 * be the one that the permission decision was about. The decision was about a path and its target, so a link is
 * accepted only if its path contains no other link. An entry that is or contains a root is refused. Throws MusterError:
 * INVALID_PARAM, NOT_FOUND, PERMISSION_DENIED, CONFLICT.
 */
export async function withHeldEntry<T>(
  path: string,
  scope: OpenScope,
  use: (entry: HeldEntry) => Promise<T>,
  options: { readonly makeParents?: boolean } = {},
): Promise<T> {
  const { makeParents = false } = options;
  try {
    requireNoRoot(path, requirePathInRoots(path, scope, { mayBeMissing: true }).real, scope);
    const parent = requirePathInRoots(
      dirname(path),
      { roots: scope.roots },
      { mayBeMissing: makeParents },
    );
    using directory = holdDirectory(parent.root, parent.real, { create: makeParents });
    const name = basename(path);
    const real = join(parent.real, name);
    const stats = readEntryStats(directory, name);
    requireNoRoot(path, real, scope);
    requireJudged(path, { real, parent: parent.real, stats }, scope);
    directory.verify();
    return await use({ directory, name, real, root: parent.root, stats });
  } catch (thrown) {
    if (systemErrorCode(thrown) === 'ELOOP') throw changed(path);
    throw toFileError(path, thrown);
  }
}

/** Returns the present stats of an entry; undefined if it does not exist. */
export function readEntryStats(directory: HeldDirectory, name: string): BigIntStats | undefined {
  return lstatSync(directory.at(name), { bigint: true, throwIfNoEntry: false });
}

function requireNoRoot(path: string, real: string, { roots }: OpenScope): void {
  if (!roots.some((root) => isInside(real, root))) return;
  throw new MusterError(
    'INVALID_PARAM',
    `${path} is a workspace root or contains one, so it cannot be moved or deleted`,
  );
}

interface FoundEntry {
  readonly real: string;
  readonly parent: string;
  readonly stats: BigIntStats | undefined;
}

function requireJudged(path: string, { real, parent, stats }: FoundEntry, scope: OpenScope): void {
  if (requirePathInRoots(path, scope, { mayBeMissing: true }).real === real) return;
  if (stats?.isSymbolicLink() !== true) throw changed(path);
  if (parent === dirname(path)) return;
  throw new MusterError(
    'INVALID_PARAM',
    `${path} is a link, and its path goes through another link: use the path ${real}`,
  );
}

function changed(path: string): MusterError {
  return new MusterError(
    'CONFLICT',
    `${path} was changed by somebody else just now; nothing was done. Look at it again.`,
    { retryable: true },
  );
}
