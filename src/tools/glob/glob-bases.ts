import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { WithheldCounter } from '../shared/output.ts';
import { resolveSearchTarget } from '../search/search-scope.ts';
import { createPathFilter, placeGlobs, type PlacedGlob } from '../search/globs/placed-globs.ts';
import type { PathFilter, SearchScope } from '../search/search-types.ts';

/** The maximum number of directories in which the globs of one call may begin. */
const MAX_BASES = 20;

/** The search that a call of Glob asks for. */
export interface GlobSearch {
  /** The list of globs as it is written in the call. */
  readonly list: string;
  /** The absolute path of the directory to search, or of a single file. */
  readonly directory: string;
  readonly includesIgnored: boolean;
}

/** A directory in which globs of a call begin (for example `src` for `src/*.ts`). */
export interface GlobBase {
  /** The absolute path as the call names it, which may lead through links. */
  readonly asked: string;
  readonly real: string;
  readonly scope: SearchScope;
  readonly withheld: WithheldCounter;
  /** Returns whether the globs match a path relative to the directory, whether or not the file is withheld. */
  readonly matches: PathFilter;
}

/** The directories of a call that could be opened. */
export interface OpenedBases {
  readonly bases: readonly GlobBase[];
  /** Notes on the directories that do not exist, if at least one other exists. */
  readonly missing: readonly string[];
}

/** Returns the absolute paths of the directories in which globs begin. Never throws. */
export function baseDirectories(globs: readonly PlacedGlob[], start: string): readonly string[] {
  const bases = globs.filter(({ excludes }) => !excludes).map(({ base }) => base);
  return bases.length === 0 ? [start] : [...new Set(bases)];
}

/**
 * Opens the directories in which globs begin. Throws MusterError for unusable globs, or if none of the directories
 * exists.
 */
export function openBases(
  globs: readonly PlacedGlob[],
  search: GlobSearch,
  context: ToolContext,
): OpenedBases {
  refuseParentNames(globs);
  const all = baseDirectories(globs, search.directory);
  if (all.length > MAX_BASES) {
    const message = `pattern: begins in ${all.length} directories; valid: at most ${MAX_BASES} in one call`;
    throw new MusterError('INVALID_PARAM', message);
  }
  const bases: GlobBase[] = [];
  const missing: MusterError[] = [];
  // If one base is inside another, both list the same files, but each file must be counted once.
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

function refuseParentNames(globs: readonly PlacedGlob[]): void {
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
  if (isFile) return createFileBase(asked, real, { search, common });
  const matches = createPathFilter(globs, asked);
  const withheld = new WithheldCounter(context.excludedPathsBelow({ asked, real }));
  const accepts: PathFilter = (path) => {
    if (seen !== undefined) {
      const absolute = join(asked, path);
      if (seen.has(absolute)) return false;
      seen.add(absolute);
    }
    // Withheld files are counted before the pattern is applied, so that their number reveals nothing about their names.
    return !withheld.countWithheld(path) && matches(path);
  };
  return { asked, real, withheld, matches, scope: { ...common, directory: real, accepts } };
}

interface FileBaseOptions {
  readonly search: GlobSearch;
  readonly common: Omit<SearchScope, 'directory' | 'accepts'>;
}

/** Creates the base for a single file. The globs apply to the name of the file. */
function createFileBase(
  asked: string,
  real: string,
  { search, common }: FileBaseOptions,
): GlobBase {
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
