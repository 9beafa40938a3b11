import { comparePaths } from '../../tools/search/search-types.ts';
import { listFilesInScope } from '../../tools/search/ripgrep.ts';

/** The maximum number of files, and the maximum time, of a list from which a person chooses. */
const MAX_FILES = 50_000;
const MAX_LISTING_MS = 5_000;

/**
 * Lists the files below a directory that Glob would find, in path order and without ignored files. If there are too
 * many files, or the search takes too long, lists the files found until then. Rejects if the search fails or `signal`
 * aborts.
 */
export async function listFiles(
  directory: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const scope = { directory, roots: [directory], accepts: () => true, nameGlobs: [] };
  const limits = { maxFiles: MAX_FILES, timeMs: MAX_LISTING_MS, signal };
  const { paths } = await listFilesInScope(scope, limits);
  return paths.toSorted(comparePaths);
}
