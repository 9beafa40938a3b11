import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { KeptBack } from '../shared/withheld-counter.ts';
import { findPlace } from '../search/search-scope.ts';
import { placedFilter, placeGlobs, type PlacedGlob } from '../search/globs/placed-globs.ts';
import type { PathFilter, SearchScope } from '../search/search-types.ts';

/** Directories that the globs of one call may begin in. */
const MAX_BASES = 20;

export interface GlobSearch {
  readonly list: string;
  /** Absolute; a file is a place to search, too. */
  readonly directory: string;
  readonly includesIgnored: boolean;
}

/** A directory in which the globs of a call are looked for. */
export interface GlobBase {
  /** Absolute, as it was asked for. */
  readonly asked: string;
  readonly real: string;
  readonly scope: SearchScope;
  readonly kept: KeptBack;
  /** Whether a path relative to it is meant, kept back or not. */
  readonly matches: PathFilter;
}

export interface OpenedBases {
  readonly bases: readonly GlobBase[];
  /** What is wrong with those that are not there, where others are. */
  readonly missing: readonly string[];
}

/** The directories that a list of globs begins in, absolute. Never throws. */
export function basesOf(globs: readonly PlacedGlob[], directory: string): readonly string[] {
  const bases = globs.filter(({ excludes }) => !excludes).map(({ base }) => base);
  return bases.length === 0 ? [directory] : [...new Set(bases)];
}

/** Throws what is wrong with the globs or, where none of them can be looked for, with the first directory. */
export function openBases(
  globs: readonly PlacedGlob[],
  search: GlobSearch,
  context: ToolContext,
): OpenedBases {
  requireNoParents(globs);
  const all = basesOf(globs, search.directory);
  if (all.length > MAX_BASES) {
    throw new MusterError(
      'INVALID_PARAM',
      `pattern: begins in ${all.length} directories; valid: at most ${MAX_BASES} in one call`,
    );
  }
  const bases: GlobBase[] = [];
  const missing: MusterError[] = [];
  // Of bases within each other the same files come up, which count once.
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
  if (globs.every(({ glob, isWholeList }) => isWholeList || !glob.split('/').includes('..')))
    return;
  throw new MusterError('INVALID_PARAM', 'pattern: has .. after a wildcard; valid: .. in front');
}

interface BaseOptions {
  readonly globs: readonly PlacedGlob[];
  readonly search: GlobSearch;
  readonly seen: Set<string> | undefined;
}

function openBase(
  asked: string,
  { globs, search, seen }: BaseOptions,
  context: ToolContext,
): GlobBase {
  const { real, isFile } = findPlace(asked, context);
  const { roots } = context;
  const common = { roots, nameGlobs: [], includesIgnored: search.includesIgnored };
  if (isFile) return fileBase(asked, real, { search, common });
  const matches = placedFilter(globs, asked);
  const kept = new KeptBack(context.withheldBelow({ asked, real }));
  const accepts: PathFilter = (path) => {
    if (seen !== undefined) {
      const whole = join(asked, path);
      if (seen.has(whole)) return false;
      seen.add(whole);
    }
    // Kept back first: their number must not depend on what is looked for.
    return !kept.holds(path) && matches(path);
  };
  return { asked, real, kept, matches, scope: { ...common, directory: real, accepts } };
}

interface FileOptions {
  readonly search: GlobSearch;
  readonly common: Omit<SearchScope, 'directory' | 'accepts'>;
}

/** The globs are about its name. */
function fileBase(asked: string, real: string, { search, common }: FileOptions): GlobBase {
  if (asked !== search.directory) {
    throw new MusterError('INVALID_PARAM', `${asked} is a file, not a directory`);
  }
  const parent = dirname(asked);
  const isMeant = placedFilter(placeGlobs(search.list, parent), parent)(basename(asked));
  const accepts = (): boolean => isMeant;
  const scope = { ...common, directory: dirname(real), file: basename(real), accepts };
  return { asked: parent, real: dirname(real), kept: new KeptBack(null), matches: accepts, scope };
}
