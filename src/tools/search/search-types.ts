import type { OpenScope } from '../../sys/files/open-in-roots.ts';

/** Accepts or rejects a path, which is relative to the searched directory and has `/` as separator. */
export type PathFilter = (path: string) => boolean;

/** The files of a search: a directory with a filter, or one file. */
export interface SearchScope {
  /** The absolute path of the directory, without links. */
  readonly directory: string;
  /** The one file of the directory to search, whatever ignore files say. */
  readonly file?: string;
  readonly roots: readonly string[];
  /** Whether `file` may have other names (hard links). Other files of a directory must have none outside the roots. */
  readonly mayHaveOtherNames?: boolean;
  /** Whether ignored files are searched, too. Default false. */
  readonly includesIgnored?: boolean;
  /** Whether binary files are searched as text. Default false; `file` is always searched as text. */
  readonly includesBinary?: boolean;
  readonly accepts: PathFilter;
  /** Globs for bare names that match every accepted file, with which ripgrep skips files early. */
  readonly nameGlobs: readonly string[];
}

/** The pattern of a search and how it is applied. */
export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** The number of context lines before and after a match. */
  readonly before: number;
  readonly after: number;
}

/** Notes in brackets for the result of a call: on what was left out, and why. */
export type Notes = readonly string[];

/** The limits of a search. */
export interface SearchLimits {
  readonly maxFiles: number;
  /**
   * The maximum number of matches in all files and in one file. Matches are lines or, with `multiline`, matched
   * texts.
   */
  readonly maxMatches: number;
  readonly maxMatchesPerFile: number;
  /** The time limit in milliseconds. */
  readonly timeMs: number;
  readonly signal: AbortSignal;
}

/** The limits of listing files. */
export type ListLimits = Pick<SearchLimits, 'maxFiles' | 'timeMs' | 'signal'>;

/** A line of a search result. */
export interface SearchLine {
  readonly number: number;
  readonly text: string;
  /** False for a line of context. */
  readonly matches: boolean;
  /** The positions of the first matches in a long line. */
  readonly spans?: readonly TextSpan[];
}

/** The first index of a part of a text, and the index after its last. */
export type TextSpan = readonly [number, number];

/** The maximum number of characters of a line that is shown completely. */
export const LONG_LINE_CHARACTERS = 500;
/** The maximum number of matches in one line whose positions are kept. */
export const MAX_SPANS = 50;

/** The matches in one file. */
export interface FileHits {
  /** The path relative to the directory of the scope, with `/` as separator. */
  readonly path: string;
  readonly lines: readonly SearchLine[];
  readonly matches: number;
  /** Set when the file is binary and was searched as text. */
  readonly isBinary?: true;
}

/** The result of a content search. */
export interface SearchResult {
  /** In path order, as `comparePaths` defines it. */
  readonly files: readonly FileHits[];
  /** The limit that ended the search early, so that there may be more. */
  readonly stopped?: 'limit' | 'time';
  /** Files and directories that this user may not read, or whose names are not UTF-8. */
  readonly unreadable?: readonly string[];
}

/**
 * Whether a file whose first NUL character is at `firstNul` counts as binary in a scope. A file with a later NUL is
 * searched up to it; only when binary files are included, it counts as binary and is searched completely.
 */
export function isBinaryAt(
  firstNul: number | undefined,
  { includesBinary = false }: Pick<SearchScope, 'includesBinary'>,
): boolean {
  return firstNul !== undefined && (includesBinary || firstNul < BINARY_SAMPLE_BYTES);
}

/** The result of listing files. */
export interface ListResult extends Omit<SearchResult, 'files'> {
  readonly paths: readonly string[];
}

/** Describes how a found file may be opened: at its own path, through no link. */
export function openPlaceOf(scope: SearchScope, path: string): OpenScope {
  const mayHaveOtherNames = scope.mayHaveOtherNames === true;
  return { roots: scope.roots, judged: new Map([[path, { real: path, mayHaveOtherNames }]]) };
}

/** Whether a path contains the replacement character for bytes that are not UTF-8, so that it opens no file. */
export function isLossyName(path: string): boolean {
  return path.includes('\uFFFD');
}

/** Makes the `unreadable` field of a result, or nothing when the list is empty. */
export function unreadableField(paths: readonly string[]): Pick<SearchResult, 'unreadable'> {
  return paths.length === 0 ? {} : { unreadable: paths };
}

/** The largest file that is searched, in bytes. */
export const MAX_SEARCHED_BYTES = 20 * 1024 * 1024;
/**
 * The size of ripgrep's first buffer. A file with a NUL character in it is binary and is not searched. A later NUL
 * ends the search of the file.
 */
export const BINARY_SAMPLE_BYTES = 65_536;
/** The directory into which no search descends. */
export const NEVER_SEARCHED = '.git';

/** Compares paths name by name and byte by byte, so that the files of a directory stay together. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (const [index, name] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (name !== other) return Buffer.compare(Buffer.from(name), Buffer.from(other));
  }
  return left.length - right.length;
}

/** Names the first paths, those nearest to the top first, and counts the others: `a.ts, src/b.ts and 3 more`. */
export function summarizePaths(
  paths: readonly string[],
  show: (path: string) => string,
  max = 3,
): string {
  const depth = (path: string): number => path.split('/').length;
  const sorted = paths.toSorted((a, b) => depth(a) - depth(b) || comparePaths(a, b));
  const named = sorted.slice(0, max).map(show).join(', ');
  return paths.length > max ? `${named} and ${paths.length - max} more` : named;
}
