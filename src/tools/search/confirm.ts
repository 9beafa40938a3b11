import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import { namesIn } from '../../sys/directory-names.ts';
import { inDirectory } from '../../sys/open-in-roots.ts';
import { readWholeFile } from '../../sys/read-file.ts';
import {
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
  const confirmed: FileHits[] = [];
  for (const hits of found) {
    if (await holdsLines(join(scope.directory, hits.path), hits, { scope, signal })) {
      confirmed.push(hits);
    }
  }
  return confirmed;
}

async function holdsLines(
  path: string,
  { lines }: FileHits,
  { scope, signal }: { readonly scope: SearchScope; readonly signal: AbortSignal },
): Promise<boolean> {
  try {
    const options = { maxBytes: MAX_SEARCHED_BYTES, signal };
    const { bytes } = await readWholeFile(path, placeFound(scope, path), options);
    const held = bytes.toString('utf8').split('\n');
    return lines.every(({ number, text }) => withoutReturn(held[number - 1]) === text);
  } catch (thrown) {
    if (thrown instanceof MusterError) return false;
    throw thrown;
  }
}

function withoutReturn(line: string | undefined): string | undefined {
  return line?.endsWith('\r') === true ? line.slice(0, -1) : line;
}

/** The same for names alone, relative to the directory of the scope: those of regular files. */
export function confirmPaths(found: readonly string[], scope: SearchScope): readonly string[] {
  const regular = new Set<string>();
  for (const [directory, paths] of Map.groupBy(found, dirname)) {
    for (const path of regularIn(directory, paths, scope)) regular.add(path);
  }
  return found.filter((path) => regular.has(path));
}

function regularIn(
  directory: string,
  paths: readonly string[],
  scope: SearchScope,
): readonly string[] {
  const whole = join(scope.directory, directory);
  try {
    return inDirectory(whole, placeFound(scope, whole), (held) => {
      // A name that is not UTF-8 leads nowhere, and is looked for among those that are listed.
      const listed = paths.some(isLossyName) ? namesIn(held.at('.')) : [];
      return paths.filter((path) => {
        const name = basename(path);
        if (isLossyName(name)) return listed.includes(name);
        return lstatSync(held.at(name), { throwIfNoEntry: false })?.isFile() === true;
      });
    });
  } catch (thrown) {
    if (thrown instanceof MusterError) return [];
    throw thrown;
  }
}
