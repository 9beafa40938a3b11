import { closeSync, type BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { atScopeEnd } from '../../../base/at-scope-end.ts';
import { MusterError } from '../../../base/errors.ts';
import { plural } from '../../../base/text.ts';
import type { ToolContext, PathExclusion } from '../../../protocol/tool.ts';
import { directoryEntries } from '../../../sys/files/directory-names.ts';
import { readEntryStats, type HeldEntry } from '../../../sys/files/entry-in-roots.ts';
import { holdDirectory, type HeldDirectory } from '../../../sys/files/held-directory.ts';
import { openHeldFile } from '../../../sys/files/open-in-roots.ts';
import { displayPath } from '../../../sys/files/paths.ts';
import { requireNotStale } from '../../shared/change-file.ts';
import { fileFingerprint, MAX_EDIT_BYTES } from '../../shared/file-text.ts';

/**
 * The maximum number of entries and bytes that one call moves or deletes, because the log names every file with its
 * hash.
 */
const MAX_ENTRIES = 500;
const MAX_HASHED_BYTES = 256 * 1024 * 1024;

/** An entry that is moved or deleted, alone or with its directory. */
export interface TreeEntry {
  /** The path from the entry that the call names; empty for that entry itself. */
  readonly path: string;
  /** The absolute path. */
  readonly real: string;
  readonly stats: BigIntStats;
  /** The `fileFingerprint` of a file; null for other entries. */
  readonly hash: string | null;
}

/** Limits on what may be moved or deleted together with its directory. */
export interface TreeLimits {
  readonly recursive: boolean;
  /** The rules that withhold paths, for each location from which or to which the tree goes. */
  readonly withheld: readonly (PathExclusion | null)[];
}

/**
 * Reads an entry and, for a directory, everything below it. A directory comes before its content; links are not
 * followed. Throws MusterError for a directory that is not empty without `recursive`, for more than the limits, for
 * another file system, for a path that a rule withholds, and for a file that changed since this task read it.
 */
export async function readFileTree(
  top: HeldEntry & { readonly stats: BigIntStats },
  { recursive, withheld }: TreeLimits,
  context: ToolContext,
): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let hashed = 0;
  const shown = (path: string): string => displayPath(join(top.real, path), context.cwd);
  const refuseTooMuch = (limit: string): never => {
    const message = `${shown('')} holds more than ${limit}, the limit of one call: name smaller directories, or use Bash`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  };

  const requireAllowed = (path: string, stats: BigIntStats): void => {
    if (stats.dev !== top.stats.dev) {
      throw new MusterError('PERMISSION_DENIED', `${shown(path)} is on another file system`);
    }
    if (path === '') return;
    const asNamed = stats.isDirectory() ? `${path}/` : path;
    const why = withheld.map((rule) => rule?.(asNamed)).find((each) => each !== undefined);
    if (why === undefined) return;
    const message = `${shown(path)} may not be moved or deleted with its directory (${why}). Nothing was done: name the files and directories that you mean.`;
    throw new MusterError('PERMISSION_DENIED', message);
  };

  const hashFile = async (real: string, holder: HeldDirectory): Promise<string> => {
    const file = openHeldFile(holder, real, context);
    using _close = atScopeEnd(() => closeSync(file.fd));
    const { size } = file.stats;
    if (size <= BigInt(MAX_EDIT_BYTES)) hashed += Number(size);
    if (hashed > MAX_HASHED_BYTES) refuseTooMuch(`${MAX_HASHED_BYTES} bytes of files`);
    const hash = await fileFingerprint(file, context.signal);
    requireNotStale(real, { real, hash }, context);
    return hash;
  };

  const add = async (path: string, holder: HeldDirectory, stats: BigIntStats): Promise<void> => {
    const real = join(top.real, path);
    requireAllowed(path, stats);
    const hash = stats.isFile() ? await hashFile(real, holder) : null;
    entries.push({ path, real, stats, hash });
    if (entries.length > MAX_ENTRIES) refuseTooMuch(`${MAX_ENTRIES} entries`);
    if (stats.isDirectory()) await addBelow(path, real);
  };

  const addBelow = async (path: string, real: string): Promise<void> => {
    const directory = holdDirectory(top.root, real);
    using _close = atScopeEnd(() => directory.close());
    for (const name of sortedNames(directory)) {
      context.signal.throwIfAborted();
      if (!recursive) {
        const message = `${shown('')} is a directory and not empty: set recursive to mean all of it`;
        throw new MusterError('INVALID_PARAM', message);
      }
      const stats = readEntryStats(directory, name);
      if (stats === undefined) {
        const message = `${shown(join(path, name))} has just disappeared, or its name is not UTF-8: use Bash`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      await add(join(path, name), directory, stats);
    }
    directory.verify();
  };

  await add('', top.directory, top.stats);
  return entries;
}

/** The sorted names in a directory, at most one more than the limit. */
function sortedNames(directory: HeldDirectory): readonly string[] {
  const names: string[] = [];
  for (const { name } of directoryEntries(directory.at('.'))) {
    names.push(name);
    if (names.length > MAX_ENTRIES) break;
  }
  return names.toSorted();
}

/** Describes what a call has moved or deleted: `the file`, `the directory with 3 files and 1 directory`. */
export function describeFileTree([top, ...below]: readonly TreeEntry[]): string {
  if (top === undefined) return 'nothing';
  if (top.stats.isSymbolicLink()) return 'the link';
  if (!top.stats.isDirectory()) return 'the file';
  const directories = below.filter(({ stats }) => stats.isDirectory()).length;
  const files = below.length - directories;
  if (below.length === 0) return 'the empty directory';
  const inner = directories === 0 ? '' : ` and ${plural(directories, 'directory', 'directories')}`;
  return `the directory with ${plural(files, 'file')}${inner}`;
}
