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

const MAX_SHOWN_PATHS = 1000;
/** The maximum number of files that are listed and sorted. */
const MAX_LISTED_FILES = 200_000;
/** The maximum time for listing ignored files after a search that found nothing. */
const IGNORED_TIMEOUT_MS = 2000;
const MAX_IGNORED_NAMED = 10;
const MAX_NOTE_CHARACTERS = 200;
/** The maximum number of comparisons to find the globs of a list that matched nothing. */
const MAX_COMPARISONS = 1_000_000;

/** The files that a call of Glob has found. */
export interface GlobListing {
  /** The absolute paths of the first files, in path order. */
  readonly first: readonly string[];
  readonly total: number;
  /** The number of paths that are missing in `first`, because their files disappeared during the search. */
  readonly gone: number;
  readonly stopped: ListResult['stopped'];
  /** The searched directory, for messages. */
  readonly directory: string;
  readonly notes: readonly string[];
}

interface BaseResult extends ListResult {
  readonly base: GlobBase;
  /** The absolute paths of the files, based on the path of the base as the call names it. */
  readonly paths: readonly string[];
}

/** Lists the files that a list of globs matches. Throws MusterError for unusable globs and directories. */
export async function listGlobs(search: GlobSearch, context: ToolContext): Promise<GlobListing> {
  const globs = placeGlobs(search.list, search.directory);
  const { bases, missing } = openBases(globs, search, context);
  const results = await listBases(bases, createListLimits(SEARCH_TIME_MS, context));
  const isEmpty = results.every(({ paths, stopped }) => paths.length === 0 && !stopped);
  const mayBeIgnored = isEmpty && !search.includesIgnored;
  const ignored = mayBeIgnored ? await describeIgnoredFiles(bases, context) : [];
  const sorted = results.flatMap(({ paths }) => paths).toSorted(comparePaths);
  const stopped = results.find((each) => each.stopped !== undefined)?.stopped;
  const first = sorted.slice(0, MAX_SHOWN_PATHS);
  const confirmed = confirmExisting(first, results);
  const found = new Set(sorted);
  const named =
    ignored.length > 0
      ? []
      : await Promise.all(
          bases.map((base) => describeNamedFiles(base, { globs, search, found, context })),
        );
  const unmatched =
    sorted.length > 0 && stopped === undefined ? describeUnmatchedGlobs(globs, sorted) : [];
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
      ...results.flatMap((result) => createBaseNotes(result, context)),
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

function createListLimits(timeMs: number, { signal }: ToolContext): ListLimits {
  return { maxFiles: MAX_LISTED_FILES, timeMs, signal };
}

/** Returns the paths of the files that still exist and can be reached without a link. */
function confirmExisting(
  first: readonly string[],
  results: readonly BaseResult[],
): ReadonlySet<string> {
  const wanted = new Set(first);
  return new Set(
    results.flatMap(({ base, paths }) => {
      const basePaths = paths.filter((path) => wanted.has(path));
      const relativePaths = basePaths.map((path) => relative(base.asked, path));
      return confirmPaths(relativePaths, base.scope).map((path) => join(base.asked, path));
    }),
  );
}

/** Describes the ignored files that match, for a call that has found nothing. */
async function describeIgnoredFiles(
  bases: readonly GlobBase[],
  context: ToolContext,
): Promise<Notes> {
  const basesWithIgnored = bases.map((base) => {
    const withheld = context.excludedPathsBelow(base);
    const accepts = (path: string): boolean => base.matches(path) && withheld?.(path) === undefined;
    return { ...base, scope: { ...base.scope, includesIgnored: true, accepts } };
  });
  const listed = await listBases(basesWithIgnored, createListLimits(IGNORED_TIMEOUT_MS, context));
  // Between the listing and this note, another process may have replaced a directory by a link to another place.
  const existing = confirmExisting(
    listed.flatMap((each) => each.paths),
    listed,
  );
  const paths = [...existing];
  const isComplete = listed.every(({ stopped }) => stopped === undefined);
  if (paths.length === 0) {
    const seconds = IGNORED_TIMEOUT_MS / 1000;
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

interface NamedFilesSearch {
  readonly globs: readonly PlacedGlob[];
  readonly search: GlobSearch;
  readonly found: ReadonlySet<string>;
  readonly context: ToolContext;
}

function describeNamedFiles(base: GlobBase, named: NamedFilesSearch): Promise<Notes> {
  const { globs, search, found, context } = named;
  const basePaths = globs.filter((glob) => glob.base === base.asked);
  const { asked, real } = base;
  const { includesIgnored } = search;
  const show = (path: string): string => displayPath(path, context.cwd);
  return namedNotes(
    basePaths,
    { asked, real, found, includesIgnored, readsContents: false, show },
    context,
  );
}

/** Names the globs of a list that matched nothing, if other globs matched files. */
function describeUnmatchedGlobs(globs: readonly PlacedGlob[], found: readonly string[]): Notes {
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

function createBaseNotes({ base, unreadable }: BaseResult, context: ToolContext): Notes {
  const show = (path: string): string => displayPath(join(base.asked, path), context.cwd);
  return [
    ...base.withheld.notes(['file', 'files']),
    ...unreadableNotes(unreadable, show, context.excludedPathsBelow(base)),
  ];
}
