import { closeSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { atScopeEnd } from '../../base/at-scope-end.ts';
import { MusterError } from '../../base/errors.ts';
import { firstDirectoryNames } from '../../sys/files/directory-names.ts';
import type { HeldDirectory } from '../../sys/files/held-directory.ts';
import { withHeldDirectory, openHeldFile } from '../../sys/files/open-in-roots.ts';
import { UnchangedDirectories } from '../../sys/files/unchanged-directories.ts';
import { decodeSearchedText, firstNul, isUtf32 } from './decode-text.ts';
import {
  isBinaryAt,
  isLossyName,
  MAX_SEARCHED_BYTES,
  createOpenScope,
  type FileHits,
  type SearchScope,
} from './search-types.ts';

/**
 * Keeps only hits in files inside the roots. ripgrep opens files by their names, so a directory that was a link for a
 * moment could have led ripgrep anywhere. If the entries of a directory and of those above it have not changed since
 * `startedAt`, there was no such link. In other directories each file is opened again without following links, and must
 * contain the lines that ripgrep found. Therefore hits in files that changed during the search may be dropped, too.
 *
 * @param startedAt when ripgrep was started, in milliseconds since the epoch
 */
export async function confirmHits(
  found: readonly FileHits[],
  scope: SearchScope,
  { startedAt, signal }: { readonly startedAt: number; readonly signal: AbortSignal },
): Promise<readonly FileHits[]> {
  const confirmed = new Map<FileHits, FileHits>();
  // A binary file is told from a text only by its content.
  const mustRead = scope.file !== undefined || scope.includesBinary === true;
  const unchanged = mustRead ? null : new UnchangedDirectories(startedAt);
  for (const [directory, directoryHits] of Map.groupBy(found, ({ path }) => dirname(path))) {
    // A name that is not UTF-8 is not that of the file whose other names were checked.
    if (
      unchanged?.has(join(scope.directory, directory)) === true &&
      !directoryHits.some(({ path }) => isLossyName(path))
    ) {
      for (const hits of directoryHits) confirmed.set(hits, hits);
      continue;
    }
    inOpenDirectory(directory, scope, (at) => {
      for (const hits of directoryHits) {
        for (const result of confirmFileHits(at, hits, scope)) confirmed.set(hits, result);
      }
      return [];
    });
    // Let other work run, and notice a cancellation.
    await setImmediate();
    signal.throwIfAborted();
  }
  return found.flatMap((hits) => confirmed.get(hits) ?? []);
}

/**
 * Returns the hits of a file in a list if the file can be opened and contains the lines, and otherwise an empty list.
 */
function confirmFileHits(
  directory: HeldDirectory,
  hits: FileHits,
  scope: SearchScope,
): readonly FileHits[] {
  return emptyOnError(() => {
    const bytes = readSearchedFile(directory, join(scope.directory, hits.path), scope);
    const lines = decodeSearchedText(bytes).split('\n');
    if (!hits.lines.every(({ number, text }) => trimReturn(lines[number - 1]) === text)) return [];
    const isBinary = !isUtf32(bytes) && isBinaryAt(firstNul(bytes), scope);
    return [isBinary ? { ...hits, isBinary } : hits];
  });
}

/** Reads a file. Returns an empty buffer if the file is too large to be searched. */
function readSearchedFile(directory: HeldDirectory, path: string, scope: SearchScope): Buffer {
  const { fd, stats } = openHeldFile(directory, path, createOpenScope(scope, path));
  using _close = atScopeEnd(() => closeSync(fd));
  return stats.size > MAX_SEARCHED_BYTES ? Buffer.alloc(0) : readFileSync(fd);
}

function trimReturn(line: string | undefined): string | undefined {
  return line?.endsWith('\r') === true ? line.slice(0, -1) : line;
}

/**
 * Keeps only the paths, relative to the directory of the scope, of regular files that can be reached without a link.
 */
export function confirmPaths(found: readonly string[], scope: SearchScope): readonly string[] {
  return confirmNames(found, scope, (stats) => stats.isFile());
}

/** Keeps only the paths of entries of any kind that can be reached without a link. */
export function confirmEntries(found: readonly string[], scope: SearchScope): readonly string[] {
  return confirmNames(found, scope, () => true);
}

function confirmNames(
  found: readonly string[],
  scope: SearchScope,
  isWanted: (stats: Stats) => boolean,
): readonly string[] {
  const confirmed = new Set<string>();
  for (const [directory, paths] of Map.groupBy(found, (path) => dirname(path))) {
    const existing = inOpenDirectory(directory, scope, (at) => {
      // A name that is not UTF-8 cannot be opened, so it is compared with the listed names.
      const listed = paths.some(isLossyName) ? firstDirectoryNames(at.at('.')) : [];
      return paths.filter((path) => {
        const name = basename(path);
        if (isLossyName(name)) return listed.includes(name);
        const stats = lstatSync(at.at(name), { throwIfNoEntry: false });
        return stats !== undefined && isWanted(stats);
      });
    });
    for (const path of existing) confirmed.add(path);
  }
  return found.filter((path) => confirmed.has(path));
}

/**
 * Calls `act` with a directory of the scope while the directory is held open. Returns an empty list if the directory is
 * a link or does not exist any more.
 */
function inOpenDirectory<T>(
  directory: string,
  scope: SearchScope,
  act: (held: HeldDirectory) => readonly T[],
): readonly T[] {
  const path = join(scope.directory, directory);
  return emptyOnError(() => withHeldDirectory(path, createOpenScope(scope, path), act));
}

function emptyOnError<T>(attempt: () => readonly T[]): readonly T[] {
  try {
    return attempt();
  } catch (thrown) {
    // The directory or file may not be opened, or does not exist any more, so results from it are not shown.
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
