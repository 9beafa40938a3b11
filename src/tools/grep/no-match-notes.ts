import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../../base/text.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import {
  isWanted,
  leftOutReasons,
  type ContentFilters,
  type FoundPlace,
  type LeftOutReason,
} from '../search/search-scope.ts';
import {
  comparePaths,
  MAX_SEARCHED_BYTES,
  type FileHits,
  type SearchLimits,
  type SearchQuery,
  type SearchScope,
} from '../search/search-types.ts';
import { listFilesInScope, searchFilesInScope } from '../search/ripgrep.ts';

/** For looking at what a search without a match had left out. */
const TIME_MS = 2000;
const MAX_FILES = 1000;
const MAX_MATCHES_PER_FILE = 1000;
/** Paths that a note names. */
const MAX_NAMED = 3;

export interface FruitlessSearch {
  readonly asked: string;
  readonly place: FoundPlace;
  readonly query: SearchQuery;
  readonly scope: SearchScope;
  readonly filters: ContentFilters;
  readonly show: (path: string) => string;
}

/**
 * What a search of a directory that found nothing had left out, as notes in brackets: the matches in ignored and in
 * binary files, and the files that are not searched, whatever is in them.
 */
export async function leftOutNotes(
  search: FruitlessSearch,
  context: ToolContext,
): Promise<readonly string[]> {
  const limits: SearchLimits = {
    maxFiles: MAX_FILES,
    maxMatches: Infinity,
    maxMatchesPerFile: MAX_MATCHES_PER_FILE,
    timeMs: TIME_MS,
    signal: context.signal,
  };
  const [matching, unsearched] = await Promise.all([
    matchingNotes(search, limits),
    unsearchedNotes(search, { limits, context }),
  ]);
  return [...matching, ...unsearched];
}

async function matchingNotes(
  { query, scope, show }: FruitlessSearch,
  limits: SearchLimits,
): Promise<readonly string[]> {
  const everything = { ...scope, includesIgnored: true, includesBinary: true };
  const plain = { ...query, before: 0, after: 0 };
  const { files, stopped } = await searchFilesInScope(plain, everything, limits);
  const [binary, ignored] = [true, false].map((isBinary) =>
    files.filter((file) => (file.isBinary === true) === isBinary),
  );
  const isTimeUp =
    stopped === 'time' ? [`[ignored files were only looked at for ${TIME_MS / 1000} s]`] : [];
  return [
    ...matchNote('ignored by .gitignore or the like', ignored ?? [], { stopped, show }).map(
      (note) => `[${note}: set include_ignored to search them, or name one as path]`,
    ),
    ...matchNote('binary', binary ?? [], { stopped, show }).map(
      (note) => `[${note}: name one as path to search it as text]`,
    ),
    ...isTimeUp,
  ];
}

function matchNote(
  kind: string,
  files: readonly FileHits[],
  { stopped, show }: { readonly stopped: string | undefined } & Pick<FruitlessSearch, 'show'>,
): readonly string[] {
  if (files.length === 0) return [];
  const isLimited = files.some(({ matches }) => matches >= MAX_MATCHES_PER_FILE);
  const count = files.reduce((sum, { matches }) => sum + matches, 0);
  const least = stopped !== undefined || isLimited ? 'at least ' : '';
  const names = namesOf(
    files.map(({ path }) => path),
    show,
  );
  return [
    `${least}${plural(count, 'match', 'matches')} in ${plural(files.length, 'file')} left out as ${kind} (${names})`,
  ];
}

type Unsearched = Exclude<LeftOutReason, 'rule'> | 'large';

interface UnsearchedKind {
  readonly reason: Unsearched;
  /** What so many of them are called. */
  readonly describe: (count: number) => string;
  /** How they can be searched all the same. */
  readonly advice: string;
}

const UNSEARCHED: readonly UnsearchedKind[] = [
  {
    reason: 'secret',
    describe: (count) => plural(count, 'secret file'),
    advice: 'name one as path',
  },
  {
    reason: 'other_names',
    describe: (count) => plural(count, 'hard-linked file'),
    advice: 'name one as path',
  },
  {
    reason: 'large',
    describe: (count) =>
      `${plural(count, 'file')} larger than ${MAX_SEARCHED_BYTES / 1024 / 1024} MB`,
    advice: 'use Bash',
  },
];

/** Counted by their names alone, so that the numbers tell nothing of what is in the files. */
async function unsearchedNotes(
  { asked, place, scope, filters, show }: FruitlessSearch,
  { limits, context }: { readonly limits: SearchLimits; readonly context: ToolContext },
): Promise<readonly string[]> {
  const reasonOf = leftOutReasons(asked, place, context);
  const byReason = new Map<Unsearched, string[]>();
  let wanted = 0;
  const accepts = (path: string): boolean => {
    if (!isWanted(filters, path)) return false;
    const reason = reasonOf(path) ?? (isLarge(join(place.real, path)) ? 'large' : undefined);
    if (reason === 'rule') return false;
    wanted += 1;
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), path]);
    return false;
  };
  const { stopped } = await listFilesInScope({ ...scope, includesIgnored: true, accepts }, limits);
  const notes = UNSEARCHED.flatMap(({ reason, describe, advice }) => {
    const paths = byReason.get(reason);
    if (paths === undefined) return [];
    return `[not searched: ${describe(paths.length)} (${namesOf(paths, show)}): ${advice}]`;
  });
  const isUnmatched = wanted === 0 && filters.accepts.length > 0 && stopped === undefined;
  return isUnmatched ? ['[no file there has a name that glob and type ask for]'] : notes;
}

function isLarge(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_SEARCHED_BYTES;
}

/** A few of the paths, those nearest to the top first. */
export function namesOf(
  paths: readonly string[],
  show: (path: string) => string,
  most = MAX_NAMED,
): string {
  const depth = (path: string): number => path.split('/').length;
  const sorted = paths.toSorted((a, b) => depth(a) - depth(b) || comparePaths(a, b));
  const named = sorted.slice(0, most).map(show).join(', ');
  return paths.length > most ? `${named} and ${paths.length - most} more` : named;
}
