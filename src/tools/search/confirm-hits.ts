import { closeSync, lstatSync, readFileSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { MusterError } from '../../base/errors.ts';
import { namesIn } from '../../sys/directory-names.ts';
import type { HeldDirectory } from '../../sys/held-directory.ts';
import { inDirectory, openHeldFile } from '../../sys/open-in-roots.ts';
import { decodeText, firstNul, isUtf32 } from './decode-text.ts';
import {
  isBinaryAt,
  isLossyName,
  MAX_SEARCHED_BYTES,
  placeFound,
  type FileHits,
  type SearchScope,
} from './search-types.ts';

/**
 * The hits of an engine that opens files by their names, as far as they stand in files inside the roots:
 * a directory that was a link for a moment would have led it anywhere. Each file is opened once more,
 * through no link, and must hold the lines that were found. What changed meanwhile goes, too.
 */
export async function confirmHits(
  found: readonly FileHits[],
  scope: SearchScope,
  signal: AbortSignal,
): Promise<readonly FileHits[]> {
  const confirmed = new Map<FileHits, FileHits>();
  for (const [directory, all] of Map.groupBy(found, ({ path }) => dirname(path))) {
    inHeld(directory, scope, (at) => {
      for (const hits of all) {
        for (const held of confirmedHits(at, hits, scope)) confirmed.set(hits, held);
      }
      return [];
    });
    // Others get their turn, and a signal is seen.
    await setImmediate();
    signal.throwIfAborted();
  }
  return found.flatMap((hits) => confirmed.get(hits) ?? []);
}

/** None where the file does not hold the lines, or is not opened. */
function confirmedHits(
  directory: HeldDirectory,
  hits: FileHits,
  scope: SearchScope,
): readonly FileHits[] {
  return orNone(() => {
    const bytes = bytesOf(directory, join(scope.directory, hits.path), scope);
    const held = decodeText(bytes).split('\n');
    if (!hits.lines.every(({ number, text }) => withoutReturn(held[number - 1]) === text))
      return [];
    const isBinary = !isUtf32(bytes) && isBinaryAt(firstNul(bytes), scope);
    return [isBinary ? { ...hits, isBinary } : hits];
  });
}

/** Empty where the file is too large to be searched. */
function bytesOf(directory: HeldDirectory, path: string, scope: SearchScope): Buffer {
  const { fd, stats } = openHeldFile(directory, path, placeFound(scope, path));
  try {
    return stats.size > MAX_SEARCHED_BYTES ? Buffer.alloc(0) : readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function withoutReturn(line: string | undefined): string | undefined {
  return line?.endsWith('\r') === true ? line.slice(0, -1) : line;
}

/** The same for names alone, relative to the directory of the scope: those of regular files. */
export function confirmPaths(found: readonly string[], scope: SearchScope): readonly string[] {
  return confirmNames(found, scope, (stats) => stats.isFile());
}

/** The same for names of anything. */
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
    const held = inHeld(directory, scope, (at) => {
      // A name that is not UTF-8 leads nowhere, and is looked for among those that are listed.
      const listed = paths.some(isLossyName) ? namesIn(at.at('.')) : [];
      return paths.filter((path) => {
        const name = basename(path);
        if (isLossyName(name)) return listed.includes(name);
        const stats = lstatSync(at.at(name), { throwIfNoEntry: false });
        return stats !== undefined && isWanted(stats);
      });
    });
    for (const path of held) confirmed.add(path);
  }
  return found.filter((path) => confirmed.has(path));
}

/** In a directory of the scope, relative to it, that is held and no link; nothing when it is one. */
function inHeld<T>(
  directory: string,
  scope: SearchScope,
  act: (held: HeldDirectory) => readonly T[],
): readonly T[] {
  const whole = join(scope.directory, directory);
  return orNone(() => inDirectory(whole, placeFound(scope, whole), act));
}

function orNone<T>(attempt: () => readonly T[]): readonly T[] {
  try {
    return attempt();
  } catch (thrown) {
    // Not to be opened, or gone: what was found there is not shown.
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
