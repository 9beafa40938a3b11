import { join, relative } from 'node:path';
import { plural, truncate } from '../../base/text.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import { displayPath } from '../../sys/files/paths.ts';
import { openBases, type GlobBase, type GlobSearch } from './glob-bases.ts';
import { namedNotes } from '../search/named-file-notes.ts';
import { SEARCH_TIME_MS, unreadableNotes } from '../search/search-scope.ts';
import { confirmPaths } from '../search/confirm-hits.ts';
import { createPathFilter, placeGlobs, type PlacedGlob } from '../search/globs/placed-globs.ts';
import { listFilesInScope } from '../search/ripgrep.ts';
import {
  type Notes,
  comparePaths,
  summarizePaths,
  type ListResult,
  type ListLimits,
} from '../search/search-types.ts';

const MAX_SHOWN = 1000;
/** The maximum number of files that are listed and sorted. */
const MAX_LISTED = 200_000;
/** The time for listing ignored files when nothing was found, in milliseconds. */
const IGNORED_TIME_MS = 2000;
const MAX_IGNORED_NAMED = 10;
const MAX_NOTE_CHARACTERS = 200;
/** The maximum number of comparisons for finding out which globs of a list matched nothing. */
const MAX_COMPARISONS = 1_000_000;

/** The files that a call of Glob has found. */
export interface GlobListing {
  /** The first absolute paths, in path order. */
  readonly first: readonly string[];
  readonly total: number;
  /** The number of the first paths that were gone before they could be shown. */
  readonly gone: number;
  readonly stopped: ListResult['stopped'];
  /** The directory that was searched, for a message. */
  readonly directory: string;
  readonly notes: readonly string[];
}

interface BaseResult extends ListResult {
  readonly base: GlobBase;
  /** Absolute paths below the base as the call names it. */
  readonly paths: readonly string[];
}

/** Lists the files that a list of globs matches. Throws MusterError for unusable globs and directories. */
export async function listGlobs(search: GlobSearch, context: ToolContext): Promise<GlobListing> {
  const globs = placeGlobs(search.list, search.directory);
  const { bases, missing } = openBases(globs, search, context);
  const results = await listBases(bases, limitsOf(SEARCH_TIME_MS, context));
  const isEmpty = results.every(({ paths, stopped }) => paths.length === 0 && !stopped);
  const mayBeIgnored = isEmpty && !search.includesIgnored;
  const ignored = mayBeIgnored ? await ignoredNotes(bases, context) : [];
  const sorted = results.flatMap(({ paths }) => paths).toSorted(comparePaths);
  const stopped = results.find((each) => each.stopped !== undefined)?.stopped;
  const first = sorted.slice(0, MAX_SHOWN);
  const confirmed = confirmedAmong(first, results);
  const found = new Set(sorted);
  const named =
    ignored.length > 0
      ? []
      : await Promise.all(
          bases.map((base) => notesOnNamed(base, { globs, search, found, context })),
        );
  const unmatched = sorted.length > 0 && stopped === undefined ? unmatchedNotes(globs, sorted) : [];
  return {
    first: first.filter((path) => confirmed.has(path)),
    total: sorted.length,
    gone: first.length - confirmed.size,
    stopped,
    directory: bases.length === 1 ? (bases[0]?.asked ?? search.directory) : search.directory,
    notes: [
      ...unmatched,
      ...missing,
      ...ignored,
      ...named.flat(),
      ...results.flatMap((result) => baseNotes(result, context)),
    ],
  };
}

async function listBases(
  bases: readonly GlobBase[],
  limits: ListLimits,
): Promise<readonly BaseResult[]> {
  const results: BaseResult[] = [];
  for (const base of bases) {
    const listed = await listFilesInScope(base.scope, limits);
    results.push({ ...listed, base, paths: listed.paths.map((path) => join(base.asked, path)) });
  }
  return results;
}

function limitsOf(timeMs: number, { signal }: ToolContext): ListLimits {
  return { maxFiles: MAX_LISTED, timeMs, signal };
}

/** The paths of files that still exist and can be reached without a link. */
function confirmedAmong(
  first: readonly string[],
  results: readonly BaseResult[],
): ReadonlySet<string> {
  const wanted = new Set(first);
  return new Set(
    results.flatMap(({ base, paths }) => {
      const own = paths.filter((path) => wanted.has(path));
      const below = own.map((path) => relative(base.asked, path));
      return confirmPaths(below, base.scope).map((path) => join(base.asked, path));
    }),
  );
}

/** Counts the ignored files that match, for a call that has found nothing. */
async function ignoredNotes(bases: readonly GlobBase[], context: ToolContext): Promise<Notes> {
  const everything = bases.map((base) => {
    const withheld = context.excludedPathsBelow(base);
    const accepts = (path: string): boolean => base.matches(path) && withheld?.(path) === undefined;
    return { ...base, scope: { ...base.scope, includesIgnored: true, accepts } };
  });
  const listed = await listBases(everything, limitsOf(IGNORED_TIME_MS, context));
  const paths = [...new Set(listed.flatMap((each) => each.paths))];
  const isComplete = listed.every(({ stopped }) => stopped === undefined);
  if (paths.length === 0) {
    const seconds = IGNORED_TIME_MS / 1000;
    return isComplete ? [] : [`[ignored files were only searched for ${seconds} s]`];
  }
  const show = (path: string): string => displayPath(path, context.cwd);
  const count = `${isComplete ? '' : 'at least '}${plural(paths.length, 'file')}`;
  const names = summarizePaths(paths, show, MAX_IGNORED_NAMED);
  const verb = paths.length === 1 ? 'matches' : 'match';
  return [
    `[${count} ignored by .gitignore or the like ${verb} (${names}): set include_ignored to list them]`,
  ];
}

interface NamedContext {
  readonly globs: readonly PlacedGlob[];
  readonly search: GlobSearch;
  readonly found: ReadonlySet<string>;
  readonly context: ToolContext;
}

function notesOnNamed(base: GlobBase, named: NamedContext): Promise<Notes> {
  const { globs, search, found, context } = named;
  const own = globs.filter((glob) => glob.base === base.asked);
  const { asked, real } = base;
  const { includesIgnored } = search;
  const show = (path: string): string => displayPath(path, context.cwd);
  return namedNotes(
    own,
    { asked, real, found, includesIgnored, readsContents: false, show },
    context,
  );
}

/** Names the globs of a list that matched nothing when others did. */
function unmatchedNotes(globs: readonly PlacedGlob[], found: readonly string[]): Notes {
  const wanted = globs.filter(({ excludes, isFullList }) => !excludes && !isFullList);
  if (wanted.length < 2 || wanted.length * found.length > MAX_COMPARISONS) return [];
  const isEmpty = (glob: PlacedGlob): boolean => {
    const matches = createPathFilter([glob], '/');
    return !found.some((path) => matches(path.slice(1)));
  };
  const unmatched = wanted.filter(isEmpty);
  const isOneName = globs.some((glob) => glob.isFullList && !isEmpty(glob));
  if (unmatched.length === 0 || isOneName) return [];
  const texts = unmatched.map(({ text }) => text).join(', ');
  return [`[no file matches ${truncate(texts, MAX_NOTE_CHARACTERS)}]`];
}

function baseNotes({ base, unreadable }: BaseResult, context: ToolContext): Notes {
  const show = (path: string): string => displayPath(join(base.asked, path), context.cwd);
  return [
    ...base.withheld.notes(['file', 'files']),
    ...unreadableNotes(unreadable, show, context.excludedPathsBelow(base)),
  ];
}
