import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError } from '../base/errors.ts';
import type { ToolContext, Withheld } from '../protocol/tool.ts';
import { placeInRoots } from '../sys/open-in-roots.ts';
import { fileError, fileKind } from '../sys/file-errors.ts';
import { pathHasForeignNames } from '../sys/hard-links.ts';
import { isSecretPath } from '../sys/secret-paths.ts';
import { KeptBack } from './kept-back.ts';
import { withSuggestion } from './paths.ts';
import { isLiteralGlob } from './search/split-glob.ts';
import {
  MAX_SEARCHED_BYTES,
  type PathFilter,
  type SearchEngine,
  type SearchLimits,
  type SearchScope,
} from './search/search-types.ts';

/** For one search, all of it. */
export const SEARCH_TIME_MS = 10_000;

export interface FoundPlace {
  readonly real: string;
  readonly isFile: boolean;
}

/** A directory, or a regular file, inside the roots. Throws what is wrong with it. */
export function findPlace(path: string, context: ToolContext): FoundPlace {
  try {
    const { real } = placeInRoots(path, context);
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
    const error = withSuggestion(fileError(path, thrown), path, context);
    if (!(error instanceof MusterError) || error.code !== 'NOT_FOUND' || isLiteralGlob(path))
      throw error;
    const advice =
      'A path has no wildcards: they go into the pattern of Glob and the glob of Grep.';
    throw new MusterError('NOT_FOUND', `${error.message} ${advice}`, { cause: thrown });
  }
}

export interface ContentFilters {
  readonly accepts: readonly PathFilter[];
  readonly nameGlobs: readonly string[];
  readonly includesIgnored?: boolean;
}

/**
 * The scope of a content search. What is found by walking and is secret, has other names outside or is
 * kept back by a rule stays out; a file that was named itself is searched, because whoever judged the
 * call knew. Nothing is said about which of those had matched: that would already tell what is in them.
 */
export function contentScope(
  path: string,
  place: FoundPlace,
  filters: ContentFilters,
  context: ToolContext,
): SearchScope {
  const { roots } = context;
  const { real } = place;
  if (place.isFile) {
    const mayHaveOtherNames = context.judged.get(path)?.mayHaveOtherNames === true;
    const file = { directory: dirname(real), file: basename(real), mayHaveOtherNames };
    return { ...file, roots, accepts: () => true, nameGlobs: [] };
  }
  const reasonOf = leftOutReasons(path, place, context);
  return {
    directory: real,
    roots,
    includesIgnored: filters.includesIgnored === true,
    accepts: (each) => isWanted(filters, each) && reasonOf(each) === undefined,
    nameGlobs: filters.nameGlobs,
  };
}

export function isWanted({ accepts }: Pick<ContentFilters, 'accepts'>, path: string): boolean {
  return accepts.every((filter) => filter(path));
}

/** Why a file that was found by walking is not searched. */
export type LeftOutReason = 'secret' | 'other_names' | 'rule';

/** Why a file below a directory is not searched, whatever it holds; undefined: it is. */
export function leftOutReasons(
  asked: string,
  { real }: FoundPlace,
  context: ToolContext,
): (path: string) => LeftOutReason | undefined {
  const withheld = context.withheldBelow({ asked, real });
  return (path) => {
    if (withheld?.(path) !== undefined) return 'rule';
    const whole = join(real, path);
    if (isSecretPath(whole)) return 'secret';
    return pathHasForeignNames(whole) ? 'other_names' : undefined;
  };
}

/**
 * What rules keep back of all the files of a directory, whatever is looked for in them: counted by
 * their names, so that the number tells nothing of what they hold.
 */
export async function countKeptBack(
  engine: SearchEngine,
  place: FoundPlace & { readonly asked: string; readonly includesIgnored?: boolean },
  limits: SearchLimits,
  context: ToolContext,
): Promise<KeptBack> {
  const kept = new KeptBack(
    place.isFile ? null : context.withheldBelow({ asked: place.asked, real: place.real }),
  );
  if (!kept.isNeeded) return kept;
  const accepts: PathFilter = (path) => {
    kept.holds(path);
    return false;
  };
  const { real: directory, includesIgnored = false } = place;
  const scope = { directory, includesIgnored, roots: context.roots, accepts, nameGlobs: [] };
  await engine.list(scope, limits);
  return kept;
}

/** At most so many are named. */
const MOST_UNREADABLE = 5;

/** What could not be looked into, as a note in brackets; what rules keep back is not named. */
export function unreadableNotes(
  unreadable: readonly string[] | undefined,
  show: (path: string) => string,
  withheld: Withheld | null,
): readonly string[] {
  const all = (unreadable ?? []).filter((path) => withheld?.(path) === undefined);
  if (all.length === 0) return [];
  const named = all.slice(0, MOST_UNREADABLE).map(show).join(', ');
  const rest = all.length > MOST_UNREADABLE ? ` and ${all.length - MOST_UNREADABLE} more` : '';
  return [`[could not be read: ${named}${rest}]`];
}
