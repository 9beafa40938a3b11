import { comparePaths } from '../../tools/search/search-types.ts';
import { listFilesInScope } from '../../tools/search/ripgrep.ts';

/** Of a directory, for a person to choose from. */
const MOST_FILES = 50_000;
const MOST_MS = 5_000;

/**
 * The files below a directory that Glob would find, ignored ones left out, in path order; of very many, or
 * where it takes too long, those that were found by then. Rejects where none can be listed, or when it is stopped.
 */
export async function listFiles(
  directory: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const scope = { directory, roots: [directory], accepts: () => true, nameGlobs: [] };
  const limits = { maxFiles: MOST_FILES, timeMs: MOST_MS, signal };
  const { paths } = await listFilesInScope(scope, limits);
  return paths.toSorted(comparePaths);
}
