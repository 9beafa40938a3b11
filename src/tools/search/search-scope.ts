import { lstatSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { MusterError } from '../../base/errors.ts';
import type { ToolContext, PathExclusion } from '../../protocol/tool.ts';
import { requirePathInRoots } from '../../sys/files/open-in-roots.ts';
import { toFileError, describeFileType } from '../../sys/files/file-errors.ts';
import { pathHasSuspiciousLinks } from '../../sys/files/hard-links.ts';
import { isSecretPath } from '../../sys/files/secret-paths.ts';
import { WithheldCounter } from '../shared/output.ts';
import { addPathSuggestion } from '../shared/path-suggestions.ts';
import { isLiteralGlob } from './globs/placed-globs.ts';
import {
  type Notes,
  MAX_SEARCHED_BYTES,
  type PathFilter,
  type ListLimits,
  type SearchScope,
} from './search-types.ts';

/** The time limit of one search, in milliseconds. */
export const SEARCH_TIME_MS = 10_000;

/** The directory or file that a call searches. */
export interface SearchTarget {
  /** The absolute path without links. */
  readonly real: string;
  readonly isFile: boolean;
}

/** Resolves a path to a directory or a regular file inside the roots. Throws MusterError for any other path. */
export function resolveSearchTarget(path: string, context: ToolContext): SearchTarget {
  try {
    const { real } = requirePathInRoots(path, context);
    const stats = lstatSync(real);
    if (!stats.isDirectory() && !stats.isFile()) {
      const message = `${path} is ${describeFileType(stats)}: it is not searched`;
      throw new MusterError('INVALID_PARAM', message);
    }
    if (stats.isFile() && stats.size > MAX_SEARCHED_BYTES) {
      const limit = `${MAX_SEARCHED_BYTES / 1024 / 1024} MB`;
      const message = `${path} is larger than ${limit}, the limit of a search: Read it in parts, or use Bash`;
      throw new MusterError('LIMIT_EXCEEDED', message);
    }
    return { real, isFile: stats.isFile() };
  } catch (thrown) {
    const error = addPathSuggestion(toFileError(path, thrown), path, context);
    if (!(error instanceof MusterError) || error.code !== 'NOT_FOUND' || isLiteralGlob(path))
      throw error;
    const advice =
      'A path has no wildcards: they go into the pattern of Glob and the glob of Grep.';
    throw new MusterError('NOT_FOUND', `${error.message} ${advice}`, { cause: thrown });
  }
}

/** The filters of a content search. */
export interface ContentFilters {
  /** The filters that must all accept a path. */
  readonly accepts: readonly PathFilter[];
  readonly nameGlobs: readonly string[];
  readonly includesIgnored?: boolean;
}

/**
 * Creates the scope of a content search. In a directory, the search leaves out files that may hold secrets, files with
 * other names (hard links) outside the roots, and files that a permission rule withholds. A file that the call itself
 * names is searched, because the permission decision was about this file. The result never says which of the omitted
 * files would match, because that would reveal their content.
 */
export function contentScope(
  path: string,
  target: SearchTarget,
  filters: ContentFilters,
  context: ToolContext,
): SearchScope {
  const { roots } = context;
  const { real } = target;
  if (target.isFile) {
    const mayHaveOtherNames = context.judged.get(path)?.mayHaveOtherNames === true;
    const file = { directory: dirname(real), file: basename(real), mayHaveOtherNames };
    return { ...file, roots, accepts: () => true, nameGlobs: [] };
  }
  const findReason = exclusionReasons(path, target, context);
  return {
    directory: real,
    roots,
    includesIgnored: filters.includesIgnored === true,
    accepts: (each) => isWanted(filters, each) && findReason(each) === undefined,
    nameGlobs: filters.nameGlobs,
  };
}

/** Returns whether all filters accept a path. */
export function isWanted({ accepts }: Pick<ContentFilters, 'accepts'>, path: string): boolean {
  return accepts.every((filter) => filter(path));
}

/** The reasons for which a file in a searched directory is not searched. */
export type ExclusionReason = 'secret' | 'other_names' | 'rule';

/**
 * Returns a function that gives the reason why a file below a directory is not searched, or undefined for a file that
 * is searched.
 */
export function exclusionReasons(
  asked: string,
  { real }: SearchTarget,
  context: ToolContext,
): (path: string) => ExclusionReason | undefined {
  const withheld = context.excludedPathsBelow({ asked, real });
  return (path) => {
    if (withheld?.(path) !== undefined) return 'rule';
    const absolute = join(real, path);
    if (isSecretPath(absolute)) return 'secret';
    return pathHasSuspiciousLinks(absolute) ? 'other_names' : undefined;
  };
}

/**
 * Counts all files of a directory that permission rules withhold. The count does not depend on the searched pattern, so
 * it reveals nothing about the contents of the files.
 */
export async function countWithheldFiles(
  target: SearchTarget & { readonly asked: string; readonly includesIgnored?: boolean },
  limits: ListLimits,
  context: ToolContext,
): Promise<WithheldCounter> {
  const counter = new WithheldCounter(
    target.isFile ? null : context.excludedPathsBelow({ asked: target.asked, real: target.real }),
  );
  if (!counter.hasRules) return counter;
  const accepts: PathFilter = (path) => {
    counter.countWithheld(path);
    return false;
  };
  const { real: directory, includesIgnored = false } = target;
  const scope = { directory, includesIgnored, roots: context.roots, accepts, nameGlobs: [] };
  const { listFilesInScope } = await import('./ripgrep.ts');
  await listFilesInScope(scope, limits);
  return counter;
}

/** The maximum number of unreadable paths that a note names. */
const MAX_NAMED_UNREADABLE = 5;

/** Creates a note on the paths that could not be read. Paths that permission rules withhold are not mentioned. */
export function unreadableNotes(
  unreadable: readonly string[] | undefined,
  show: (path: string) => string,
  withheld: PathExclusion | null,
): Notes {
  const all = (unreadable ?? []).filter((path) => withheld?.(path) === undefined);
  if (all.length === 0) return [];
  const named = all.slice(0, MAX_NAMED_UNREADABLE).map(show).join(', ');
  const rest =
    all.length > MAX_NAMED_UNREADABLE ? ` and ${all.length - MAX_NAMED_UNREADABLE} more` : '';
  return [`[could not be read: ${named}${rest}]`];
}
