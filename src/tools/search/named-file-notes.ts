import { lstatSync, type Stats } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { describeFileType } from '../../sys/files/file-errors.ts';
import { withHeldDirectory } from '../../sys/files/open-in-roots.ts';
import { isInside } from '../../base/path-inside.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { literalPath, type PlacedGlob } from './globs/placed-globs.ts';
import { listFilesInScope } from './ripgrep.ts';
import { isBinaryFile } from './decode-text.ts';
import {
  type Notes,
  MAX_SEARCHED_BYTES,
  NEVER_SEARCHED,
  type SearchScope,
} from './search-types.ts';

/** The maximum time for finding out which of the named paths are ignored. */
const IGNORED_TIMEOUT_MS = 2000;

/** A finished search for which notes on named files are created. */
export interface NamedSearch {
  /** The absolute path of the searched directory as the call names it. */
  readonly asked: string;
  /** The absolute path of the searched directory without links. */
  readonly real: string;
  /** The absolute paths of the found files, based on `asked`. */
  readonly found: ReadonlySet<string>;
  readonly includesIgnored: boolean;
  /** Whether the contents of files were searched. If not, files were listed by name. */
  readonly readsContents: boolean;
  readonly show: (path: string) => string;
}

/** A path that a glob without wildcards names and that was not found. */
interface NamedPath {
  /** The absolute path, based on the directory as the call names it. */
  readonly path: string;
  /** The path relative to the searched directory. */
  readonly below: string;
  /** Whether the glob has no slash, so that it may mean a file in another directory. */
  readonly mayBeElsewhere: boolean;
  /** The stats of the path, or undefined if this user may not inspect it. */
  readonly stats: Stats | 'missing' | undefined;
}

/**
 * Explains why files that globs without wildcards name were left out, with one note in brackets for each. There is no
 * note on a file that was searched but has no match, or on a missing name that may belong to a file in another
 * directory.
 */
export async function namedNotes(
  globs: readonly PlacedGlob[],
  search: NamedSearch,
  context: ToolContext,
): Promise<Notes> {
  const named = findMissedPaths(globs, search, context);
  const ignored = await findIgnoredPaths(named, search, context);
  return named.flatMap((each) => {
    const reason = describeExclusion(each, ignored.has(each.below), { ...search, context });
    return reason === undefined ? [] : [`[left out: ${search.show(each.path)} ${reason}]`];
  });
}

function findMissedPaths(
  globs: readonly PlacedGlob[],
  search: NamedSearch,
  context: ToolContext,
): readonly NamedPath[] {
  const withheld = context.excludedPathsBelow(search);
  return globs.flatMap((glob) => {
    const path = glob.excludes || glob.isFullList ? undefined : literalPath(glob);
    if (path === undefined || path === search.asked || !isInside(search.asked, path)) return [];
    const below = relative(search.asked, path);
    if (withheld?.(below) !== undefined || isFound(path, search.found)) return [];
    const stats = readStats(join(search.real, below), context);
    return [{ path, below, mayBeElsewhere: !glob.glob.startsWith('/'), stats }];
  });
}

function isFound(path: string, found: ReadonlySet<string>): boolean {
  return found.has(path) || [...found].some((each) => each.startsWith(`${path}/`));
}

function readStats(path: string, { roots }: ToolContext): NamedPath['stats'] {
  try {
    return withHeldDirectory(
      dirname(path),
      { roots },
      (held) => lstatSync(held.at(basename(path)), { throwIfNoEntry: false }) ?? 'missing',
    );
  } catch (thrown) {
    if (!(thrown instanceof MusterError)) throw thrown;
    return thrown.code === 'NOT_FOUND' ? 'missing' : undefined;
  }
}

/** Describes why a path was left out. Returns undefined if the path was searched, or if the reason is not known. */
function describeExclusion(
  { below, mayBeElsewhere, stats }: NamedPath,
  isIgnored: boolean,
  { real, readsContents, context }: NamedSearch & { readonly context: ToolContext },
): string | undefined {
  if (stats === 'missing') return readsContents && !mayBeElsewhere ? 'does not exist' : undefined;
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return 'is a link, and links are not followed: name where it leads';
  const isDirectory = stats.isDirectory();
  if (!isDirectory && !stats.isFile()) return `is ${describeFileType(stats)}`;
  if (readsContents && !isDirectory && isSecretPath(join(real, below))) {
    return 'is a secret file: name it as path';
  }
  if (below.split('/').includes(NEVER_SEARCHED)) {
    return `lies in ${NEVER_SEARCHED}, which is only searched when it is named as path`;
  }
  if (isIgnored) {
    return 'is ignored by .gitignore or the like: set include_ignored, or name it as path';
  }
  if (isDirectory || !readsContents) return undefined;
  if (stats.size > MAX_SEARCHED_BYTES) {
    return `is larger than ${MAX_SEARCHED_BYTES / 1024 / 1024} MB: use Bash`;
  }
  const scope = { directory: real, roots: context.roots, accepts: () => true, nameGlobs: [] };
  return isBinaryFile(below, scope) ? 'is binary: name it as path to search it as text' : undefined;
}

/**
 * Returns the relative paths that are left out because of ignore files. These are the paths that ripgrep lists (or that
 * contain files that it lists) only if it does not read ignore files. Returns no paths if listing takes too long.
 */
async function findIgnoredPaths(
  named: readonly NamedPath[],
  { real, includesIgnored }: NamedSearch,
  { roots, signal }: ToolContext,
): Promise<ReadonlySet<string>> {
  const limits = { maxFiles: Infinity, timeMs: IGNORED_TIMEOUT_MS, signal };
  const scope = { directory: real, roots, nameGlobs: [] };
  const findListed = async (paths: readonly string[], options: Partial<SearchScope>) => {
    const listed = new Set<string>();
    const accepts = (file: string): boolean => {
      for (const path of paths) if (`${file}/`.startsWith(`${path}/`)) listed.add(path);
      return false;
    };
    const { stopped } = await listFilesInScope({ ...scope, ...options, accepts }, limits);
    return stopped === undefined ? listed : null;
  };
  const existing = named.flatMap(({ below, stats }) => (typeof stats === 'object' ? [below] : []));
  if (includesIgnored || existing.length === 0) return new Set();
  const listed = await findListed(existing, {});
  const missing = existing.filter((path) => listed?.has(path) === false);
  if (missing.length === 0) return new Set();
  return (await findListed(missing, { includesIgnored: true })) ?? new Set();
}
