import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { WithheldCounter } from '../shared/output.ts';
import { resolveSearchTarget } from '../search/search-scope.ts';
import { createPathFilter, placeGlobs, type PlacedGlob } from '../search/globs/placed-globs.ts';
import type { PathFilter, SearchScope } from '../search/search-types.ts';

/** The maximum number of directories in which the globs of one call may begin. */
const MAX_BASES = 20;

/** A call of Glob. */
export interface GlobSearch {
  readonly list: string;
  /** The absolute path of the directory to search, or of a single file. */
  readonly directory: string;
  readonly includesIgnored: boolean;
}

/** A directory in which globs of a call begin. */
export interface GlobBase {
  /** The absolute path as the call names it. */
  readonly asked: string;
  readonly real: string;
  readonly scope: SearchScope;
  readonly withheld: WithheldCounter;
  /** Whether the globs match a path relative to the directory, withheld or not. */
  readonly matches: PathFilter;
}

/** The directories of a call that could be opened. */
export interface OpenedBases {
  readonly bases: readonly GlobBase[];
  /** Notes on the directories that do not exist, when others do. */
  readonly missing: readonly string[];
}

/** The absolute paths of the directories in which globs begin. Never throws. */
export function baseDirectories(globs: readonly PlacedGlob[], start: string): readonly string[] {
  const bases = globs.filter(({ excludes }) => !excludes).map(({ base }) => base);
  return bases.length === 0 ? [start] : [...new Set(bases)];
}

/** Opens the directories in which globs begin. Throws MusterError for unusable globs, or when no directory exists. */
export function openBases(
  globs: readonly PlacedGlob[],
  search: GlobSearch,
  context: ToolContext,
): OpenedBases {
  requireNoParents(globs);
  const all = baseDirectories(globs, search.directory);
  if (all.length > MAX_BASES) {
    const message = `pattern: begins in ${all.length} directories; valid: at most ${MAX_BASES} in one call`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const bases: GlobBase[] = [];
  const missing: MusterError[] = [];
  // When one base is inside another, both list the same files, and each file must count once.
  const seen = all.length === 1 ? undefined : new Set<string>();
  for (const base of all) {
    try {
      bases.push(openBase(base, { globs, search, seen }, context));
    } catch (thrown) {
      if (!(thrown instanceof MusterError) || thrown.code !== 'NOT_FOUND') throw thrown;
      missing.push(thrown);
    }
  }
  const [first] = missing;
  if (bases.length === 0 && first !== undefined) throw first;
  return { bases, missing: missing.map(({ message }) => `[${message}]`) };
}

function requireNoParents(globs: readonly PlacedGlob[]): void {
  if (globs.every(({ glob, isFullList }) => isFullList || !glob.split('/').includes('..'))) return;
  const message = 'pattern: has .. after a wildcard; valid: .. only at the start';
  throw new MusterError('INVALID_PARAM', message);
}

interface BaseOptions {
  readonly globs: readonly PlacedGlob[];
  readonly search: GlobSearch;
  readonly seen: Set<string> | undefined;
}

function openBase(asked: string, options: BaseOptions, context: ToolContext): GlobBase {
  const { globs, search, seen } = options;
  const { real, isFile } = resolveSearchTarget(asked, context);
  const { roots } = context;
  const common = { roots, nameGlobs: [], includesIgnored: search.includesIgnored };
  if (isFile) return fileBase(asked, real, { search, common });
  const matches = createPathFilter(globs, asked);
  const withheld = new WithheldCounter(context.excludedPathsBelow({ asked, real }));
  const accepts: PathFilter = (path) => {
    if (seen !== undefined) {
      const absolute = join(asked, path);
      if (seen.has(absolute)) return false;
      seen.add(absolute);
    }
    // Withheld files are counted first, so that their number does not depend on the pattern.
    return !withheld.countWithheld(path) && matches(path);
  };
  return { asked, real, withheld, matches, scope: { ...common, directory: real, accepts } };
}

interface FileOptions {
  readonly search: GlobSearch;
  readonly common: Omit<SearchScope, 'directory' | 'accepts'>;
}

/** Makes the base of a single file, to whose name the globs apply. */
function fileBase(asked: string, real: string, { search, common }: FileOptions): GlobBase {
  if (asked !== search.directory) {
    throw new MusterError('INVALID_PARAM', `${asked} is a file, not a directory`);
  }
  const parent = dirname(asked);
  const isMatch = createPathFilter(placeGlobs(search.list, parent), parent)(basename(asked));
  const accepts = (): boolean => isMatch;
  const scope = { ...common, directory: dirname(real), file: basename(real), accepts };
  return {
    asked: parent,
    real: dirname(real),
    withheld: new WithheldCounter(null),
    matches: accepts,
    scope,
  };
}
