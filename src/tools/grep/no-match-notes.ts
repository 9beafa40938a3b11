import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { plural } from '../../base/text.ts';
import type { ToolContext } from '../../protocol/tool.ts';
import {
  isWanted,
  exclusionReasons,
  type ContentFilters,
  type SearchTarget,
  type ExclusionReason,
} from '../search/search-scope.ts';
import {
  type Notes,
  MAX_SEARCHED_BYTES,
  summarizePaths,
  type FileHits,
  type SearchLimits,
  type SearchQuery,
  type SearchScope,
} from '../search/search-types.ts';
import { listFilesInScope, searchFilesInScope } from '../search/ripgrep.ts';

/** The maximum time for searching the files that a search without a match had left out. */
const TIMEOUT_MS = 2000;
const MAX_FILES = 1000;
const MAX_MATCHES_PER_FILE = 1000;

/** A search of a directory that found nothing. */
export interface EmptySearch {
  /** The absolute path of the directory as the call names it. */
  readonly asked: string;
  readonly target: SearchTarget;
  readonly query: SearchQuery;
  readonly scope: SearchScope;
  readonly filters: ContentFilters;
  readonly show: (path: string) => string;
}

/**
 * Describes what a search without a match had left out, as notes in brackets: the matches in ignored and in binary
 * files, and the files that are never searched in a directory.
 */
export async function describeNoMatch(search: EmptySearch, context: ToolContext): Promise<Notes> {
  const limits: SearchLimits = {
    maxFiles: MAX_FILES,
    maxMatches: Infinity,
    maxMatchesPerFile: MAX_MATCHES_PER_FILE,
    timeMs: TIMEOUT_MS,
    signal: context.signal,
  };
  const [matching, unsearched] = await Promise.all([
    describeOmittedMatches(search, limits),
    describeUnsearchedFiles(search, { limits, context }),
  ]);
  return [...matching, ...unsearched];
}

async function describeOmittedMatches(search: EmptySearch, limits: SearchLimits): Promise<Notes> {
  const { query, scope, show } = search;
  const everything = { ...scope, includesIgnored: true, includesBinary: true };
  const withoutContext = { ...query, before: 0, after: 0 };
  const { files, stopped } = await searchFilesInScope(withoutContext, everything, limits);
  const [binary, ignored] = [true, false].map((isBinary) =>
    files.filter((file) => (file.isBinary === true) === isBinary),
  );
  const timeNotes =
    stopped === 'time' ? [`[ignored files were only searched for ${TIMEOUT_MS / 1000} s]`] : [];
  return [
    ...describeMatches('ignored by .gitignore or the like', ignored ?? [], { stopped, show }).map(
      (note) => `[${note}: set include_ignored to search them, or name one as path]`,
    ),
    ...describeMatches('binary', binary ?? [], { stopped, show }).map(
      (note) => `[${note}: name one as path to search it as text]`,
    ),
    ...timeNotes,
  ];
}

function describeMatches(
  kind: string,
  files: readonly FileHits[],
  { stopped, show }: { readonly stopped: string | undefined } & Pick<EmptySearch, 'show'>,
): Notes {
  if (files.length === 0) return [];
  const isLimited = files.some(({ matches }) => matches >= MAX_MATCHES_PER_FILE);
  const count = files.reduce((sum, { matches }) => sum + matches, 0);
  const qualifier = stopped !== undefined || isLimited ? 'at least ' : '';
  const names = summarizePaths(
    files.map(({ path }) => path),
    show,
  );
  return [
    `${qualifier}${plural(count, 'match', 'matches')} in ${plural(files.length, 'file')} left out as ${kind} (${names})`,
  ];
}

type UnsearchedReason = Exclude<ExclusionReason, 'rule'> | 'large';

/** A kind of files that a search of a directory never reads. */
interface UnsearchedKind {
  readonly reason: UnsearchedReason;
  /** Describes a number of such files. */
  readonly describe: (count: number) => string;
  /** The way to search such a file nevertheless. */
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

/**
 * Counts the files that were not searched. The counts depend only on the names of the files, so they reveal nothing
 * about the contents.
 */
async function describeUnsearchedFiles(
  { asked, target, scope, filters, show }: EmptySearch,
  { limits, context }: { readonly limits: SearchLimits; readonly context: ToolContext },
): Promise<Notes> {
  const findReason = exclusionReasons(asked, target, context);
  const byReason = new Map<UnsearchedReason, string[]>();
  let matching = 0;
  const accepts = (path: string): boolean => {
    if (!isWanted(filters, path)) return false;
    const reason = findReason(path) ?? (isLarge(join(target.real, path)) ? 'large' : undefined);
    if (reason === 'rule') return false;
    matching += 1;
    if (reason !== undefined) byReason.set(reason, [...(byReason.get(reason) ?? []), path]);
    return false;
  };
  const { stopped } = await listFilesInScope({ ...scope, includesIgnored: true, accepts }, limits);
  const notes = UNSEARCHED.flatMap(({ reason, describe, advice }) => {
    const paths = byReason.get(reason);
    if (paths === undefined) return [];
    return `[not searched: ${describe(paths.length)} (${summarizePaths(paths, show)}): ${advice}]`;
  });
  const isUnmatched = matching === 0 && filters.accepts.length > 0 && stopped === undefined;
  return isUnmatched ? ['[no file there has a name that matches glob and type]'] : notes;
}

function isLarge(path: string): boolean {
  return (lstatSync(path, { throwIfNoEntry: false })?.size ?? 0) > MAX_SEARCHED_BYTES;
}
