import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import type { ToolContext } from '../protocol/tool.ts';
import { placeInRoots } from '../sys/open-in-roots.ts';
import { fileError, fileKind } from '../sys/file-errors.ts';
import { isSecretPath } from '../sys/secret-paths.ts';
import { withSuggestion } from './paths.ts';
import { MAX_SEARCHED_BYTES, type PathFilter, type SearchScope } from './search/search-types.ts';

/** For one search, all of it. */
export const SEARCH_TIME_MS = 10_000;

export interface FoundPlace {
  readonly real: string;
  readonly isFile: boolean;
}

/** A directory, or a regular file, inside the roots. Throws what is wrong with it. */
export function findPlace(path: string, context: ToolContext): FoundPlace {
  try {
    const { real } = placeInRoots(path, context.roots);
    const stats = lstatSync(real);
    if (!stats.isDirectory() && !stats.isFile()) {
      throw new MusterError('INVALID_PARAM', `${path} is ${fileKind(stats)}: it is not searched`);
    }
    if (stats.isFile() && stats.size > MAX_SEARCHED_BYTES) {
      const limit = `${MAX_SEARCHED_BYTES / 1024 / 1024} MB`;
      throw new MusterError(
        'LIMIT_EXCEEDED',
        `${path} is larger than ${limit}, the limit of a search: Read it in parts, or use Bash`,
      );
    }
    return { real, isFile: stats.isFile() };
  } catch (thrown) {
    throw withSuggestion(fileError(path, thrown), path, context);
  }
}

/**
 * The scope of a content search. What is found by walking and is secret stays out; a secret file that
 * was named itself is searched, because whoever judged the call knew. Nothing is said about what was
 * left out: that a secret file matched would already tell what is in it.
 */
export function contentScope(
  place: FoundPlace,
  roots: readonly string[],
  filters: readonly PathFilter[],
  nameGlobs: readonly string[],
): SearchScope {
  if (place.isFile) {
    const directory = dirname(place.real);
    const file = basename(place.real);
    return { directory, file, roots, accepts: () => true, nameGlobs: [] };
  }
  const accepts: PathFilter = (path) =>
    filters.every((filter) => filter(path)) && !isSecretPath(join(place.real, path));
  return { directory: place.real, roots, accepts, nameGlobs };
}
