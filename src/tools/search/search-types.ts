import type { OpenPlace } from '../../sys/open-in-roots.ts';

/** Whether a path relative to the searched directory, with `/`, is wanted. */
export type PathFilter = (path: string) => boolean;

/** Where is looked: a directory and what of it counts, or one file. */
export interface SearchScope {
  /** Absolute real path of a directory. */
  readonly directory: string;
  /** Only this entry of it, whatever ignore files say. */
  readonly file?: string;
  readonly roots: readonly string[];
  /** Of `file`: it may have other names (hard links). What is found by walking must have none outside. */
  readonly mayHaveOtherNames?: boolean;
  /** Whether files that ignore files leave out are searched, too. Default false. */
  readonly includesIgnored?: boolean;
  /** Whether binary files are searched as text. Default false; `file` always is. */
  readonly includesBinary?: boolean;
  readonly accepts: PathFilter;
  /** Globs for bare names that hold for everything `accepts`: for an engine that can use them. */
  readonly nameGlobs: readonly string[];
}

export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** Lines of context. */
  readonly before: number;
  readonly after: number;
}

export interface SearchLimits {
  readonly maxFiles: number;
  /** Lines or, multiline, places that match, all files together and in one file. */
  readonly maxMatches: number;
  readonly maxMatchesPerFile: number;
  /** Milliseconds for all of it. */
  readonly timeMs: number;
  readonly signal: AbortSignal;
}

export interface FoundLine {
  readonly number: number;
  readonly text: string;
  /** False: a line of context. */
  readonly matches: boolean;
  /** Of a long line: where in its text the first matches begin and end. */
  readonly spans?: readonly TextSpan[];
}

/** First index, and the one behind the last. */
export type TextSpan = readonly [number, number];

/** A line with more characters is long: it is not shown as a whole. */
export const LONG_LINE_CHARACTERS = 500;
/** Matches of one line whose places are kept. */
export const MAX_SPANS = 50;

export interface FileHits {
  /** Relative to the directory of the scope, with `/`. */
  readonly path: string;
  readonly lines: readonly FoundLine[];
  readonly matches: number;
  /** Set: it is binary, and was searched as text. */
  readonly isBinary?: true;
}

export interface SearchResult {
  /** In path order: names compared byte by byte, directory by directory. */
  readonly files: readonly FileHits[];
  /** Why there may be more. */
  readonly stopped?: 'limit' | 'time';
  /** Directories and files that this user may not look into, or that no name in UTF-8 leads to. */
  readonly unreadable?: readonly string[];
}

/**
 * Whether a file with its first NUL there is binary. What is behind a later one is not searched either, unless
 * binary files are.
 */
export function isBinaryAt(
  firstNul: number | undefined,
  { includesBinary = false }: Pick<SearchScope, 'includesBinary'>,
): boolean {
  return firstNul !== undefined && (includesBinary || firstNul < BINARY_SAMPLE_BYTES);
}

export interface ListResult extends Omit<SearchResult, 'files'> {
  readonly paths: readonly string[];
}

/** How a path that a search has found is opened: where it was found, through no link. */
export function placeFound(scope: SearchScope, path: string): OpenPlace {
  const mayHaveOtherNames = scope.mayHaveOtherNames === true;
  return { roots: scope.roots, judged: new Map([[path, { real: path, mayHaveOtherNames }]]) };
}

/** Whether a name was not UTF-8 on disk: what stands for it opens nothing. */
export function isLossyName(path: string): boolean {
  return path.includes('\uFFFD');
}

/** As a result has it: only where there is something to say. */
export function unreadableOf(paths: readonly string[]): Pick<SearchResult, 'unreadable'> {
  return paths.length === 0 ? {} : { unreadable: paths };
}

/** What both engines leave out: a file that is larger, in bytes. */
export const MAX_SEARCHED_BYTES = 20 * 1024 * 1024;
/**
 * A file with a NUL in its first bytes (ripgrep's first buffer) is binary and not searched; further on
 * a NUL ends the search.
 */
export const BINARY_SAMPLE_BYTES = 65_536;
/** Names that no search descends into. */
export const NEVER_SEARCHED = '.git';

/** Path order: component by component, so that a directory's files stand together. */
export function comparePaths(a: string, b: string): number {
  const [left, right] = [a.split('/'), b.split('/')];
  for (const [index, name] of left.entries()) {
    const other = right[index];
    if (other === undefined) return 1;
    if (name !== other) return Buffer.compare(Buffer.from(name), Buffer.from(other));
  }
  return left.length - right.length;
}
