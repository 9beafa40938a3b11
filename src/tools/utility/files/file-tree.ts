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
 * The maximum number of entries that one call moves or deletes. The number is limited, because the log names every file
 * with its hash.
 */
const MAX_ENTRIES = 500;
/** The maximum total size of the files that one call moves or deletes, because each file is hashed. */
const MAX_HASHED_BYTES = 256 * 1024 * 1024;

/** An entry (file, directory or link) that is moved or deleted, on its own or together with its directory. */
export interface TreeEntry {
  /** The path relative to the entry that the call names, or an empty text for this entry itself. */
  readonly path: string;
  /** The absolute path. */
  readonly real: string;
  readonly stats: BigIntStats;
  /** The `fileFingerprint` of a file, or null for other entries. */
  readonly hash: string | null;
}

/** Restrictions on the entries that may be moved or deleted together with their directory. */
export interface TreeLimits {
  /** Whether a directory that is not empty may be moved or deleted. */
  readonly recursive: boolean;
  /** The rules that withhold paths, for the old and the new location of the tree. */
  readonly withheld: readonly (PathExclusion | null)[];
}

/**
 * Reads an entry and, if it is a directory, everything below it. A directory comes before its content. Links are not
 * followed. Throws MusterError if the directory is not empty and `recursive` is false, if a limit is exceeded, if an
 * entry is on another file system or withheld by a rule, and if a file has changed since this task read it.
 */
export async function readFileTree(
  top: HeldEntry & { readonly stats: BigIntStats },
  { recursive, withheld }: TreeLimits,
  context: ToolContext,
): Promise<readonly TreeEntry[]> {
  const entries: TreeEntry[] = [];
  let hashed = 0;
  const formatPath = (path: string): string => displayPath(join(top.real, path), context.cwd);
  const refuseSize = (limit: string): never => {
    const message = `${formatPath('')} holds more than ${limit}, the limit of one call: name smaller directories, or use Bash`;
    throw new MusterError('LIMIT_EXCEEDED', message);
  };

  const requireAllowed = (path: string, stats: BigIntStats): void => {
    if (stats.dev !== top.stats.dev) {
      throw new MusterError('PERMISSION_DENIED', `${formatPath(path)} is on another file system`);
    }
    if (path === '') return;
    const rulePath = stats.isDirectory() ? `${path}/` : path;
    const reason = withheld.map((rule) => rule?.(rulePath)).find((each) => each !== undefined);
    if (reason === undefined) return;
    const message = `${formatPath(path)} may not be moved or deleted with its directory (${reason}). Nothing was done: name the files and directories that you mean.`;
    throw new MusterError('PERMISSION_DENIED', message);
  };

  const hashFile = async (real: string, directory: HeldDirectory): Promise<string> => {
    const file = openHeldFile(directory, real, context);
    using _close = atScopeEnd(() => closeSync(file.fd));
    const { size } = file.stats;
    if (size <= BigInt(MAX_EDIT_BYTES)) hashed += Number(size);
    if (hashed > MAX_HASHED_BYTES) refuseSize(`${MAX_HASHED_BYTES} bytes of files`);
    const hash = await fileFingerprint(file, context.signal);
    requireNotStale(real, { real, hash }, context);
    return hash;
  };

  const add = async (path: string, directory: HeldDirectory, stats: BigIntStats): Promise<void> => {
    const real = join(top.real, path);
    requireAllowed(path, stats);
    const hash = stats.isFile() ? await hashFile(real, directory) : null;
    entries.push({ path, real, stats, hash });
    if (entries.length > MAX_ENTRIES) refuseSize(`${MAX_ENTRIES} entries`);
    if (stats.isDirectory()) await addBelow(path, real);
  };

  const addBelow = async (path: string, real: string): Promise<void> => {
    const directory = holdDirectory(top.root, real);
    using _close = atScopeEnd(() => directory.close());
    for (const name of readSortedNames(directory)) {
      context.signal.throwIfAborted();
      if (!recursive) {
        const message = `${formatPath('')} is a directory and not empty: set recursive to mean all of it`;
        throw new MusterError('INVALID_PARAM', message);
      }
      const stats = readEntryStats(directory, name);
      if (stats === undefined) {
        const message = `${formatPath(join(path, name))} has just disappeared, or its name is not UTF-8: use Bash`;
        throw new MusterError('CONFLICT', message, { retryable: true });
      }
      await add(join(path, name), directory, stats);
    }
    directory.verify();
  };

  await add('', top.directory, top.stats);
  return entries;
}

/** Returns the names in a directory in sorted order, at most one more than MAX_ENTRIES. */
function readSortedNames(directory: HeldDirectory): readonly string[] {
  const names: string[] = [];
  for (const { name } of directoryEntries(directory.at('.'))) {
    names.push(name);
    if (names.length > MAX_ENTRIES) break;
  }
  return names.toSorted();
}

/** Describes the entries that a call has moved or deleted: `the file`, `the directory with 3 files and 1 directory`. */
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
