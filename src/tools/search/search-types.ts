import type { OpenScope } from '../../sys/files/open-in-roots.ts';

/** Returns whether a path is accepted. The path is relative to the searched directory and has `/` as separator. */
export type PathFilter = (path: string) => boolean;

/** The files of a search: a directory with a filter, or one file. */
export interface SearchScope {
  /** The absolute path of the directory, without links. */
  readonly directory: string;
  /** The only file of the directory to search. Ignore files do not apply to it. */
  readonly file?: string;
  readonly roots: readonly string[];
  /**
   * Whether `file` may have other names (hard links). In the search of a directory, files must not have other names
   * outside the roots.
   */
  readonly mayHaveOtherNames?: boolean;
  /** Whether ignored files are searched, too. Default: false. */
  readonly includesIgnored?: boolean;
  /** Whether binary files are searched as text. Default: false. `file` is always searched as text. */
  readonly includesBinary?: boolean;
  readonly accepts: PathFilter;
  /** Globs for file names with which ripgrep skips other files early. Every accepted file must match one of them. */
  readonly nameGlobs: readonly string[];
}

/** The pattern of a search and the options for applying it. */
export interface SearchQuery {
  readonly pattern: string;
  readonly ignoreCase: boolean;
  readonly multiline: boolean;
  /** The number of context lines before a match. */
  readonly before: number;
  /** The number of context lines after a match. */
  readonly after: number;
}

/** The notes in brackets at the end of a result, which say what was left out and why. */
export type Notes = readonly string[];

/** The limits of a search. */
export interface SearchLimits {
  readonly maxFiles: number;
  /** The maximum number of matches in all files. A match is a line or, with `multiline`, a matched text. */
  readonly maxMatches: number;
  /** The maximum number of matches in one file. */
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
  /** Whether the line has a match. False for a line of context. */
  readonly matches: boolean;
  /** The positions of the first matches in a long line. */
  readonly spans?: readonly TextSpan[];
}

/** A part of a text: the index of its first character, and the index after its last character. */
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
  /** True if the file is binary and was searched as text. */
  readonly isBinary?: true;
}

/** The result of a content search. */
export interface SearchResult {
  /** The files with matches, in the order of `comparePaths`. */
  readonly files: readonly FileHits[];
  /** The limit that ended the search early. If it is set, there may be more matches. */
  readonly stopped?: 'limit' | 'time';
  /** Files and directories that this user may not read, or whose names are not UTF-8. */
  readonly unreadable?: readonly string[];
}

/**
 * Returns whether a file whose first NUL character is at `firstNul` counts as binary in a scope. A NUL after the sample
 * does not make a file binary. Such a file is searched up to the NUL. If the scope includes binary files, any NUL makes
 * the file binary, and the file is searched completely.
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

/** Returns the options for opening a found file: only at its own path, and without following links. */
export function createOpenScope(scope: SearchScope, path: string): OpenScope {
  const mayHaveOtherNames = scope.mayHaveOtherNames === true;
  return { roots: scope.roots, judged: new Map([[path, { real: path, mayHaveOtherNames }]]) };
}

/**
 * Returns whether a path contains the replacement character for bytes that are not UTF-8, so that no file can be opened
 * with it.
 */
export function isLossyName(path: string): boolean {
  return path.includes('\uFFFD');
}

/** Creates the `unreadable` field of a result, or an empty object if there are no such paths. */
export function unreadableField(paths: readonly string[]): Pick<SearchResult, 'unreadable'> {
  return paths.length === 0 ? {} : { unreadable: paths };
}

/** The maximum size of a file that is searched, in bytes. */
export const MAX_SEARCHED_BYTES = 20 * 1024 * 1024;
/**
 * The size of ripgrep's first buffer. A file with a NUL character in this part is binary and is not searched. A later
 * NUL only ends the search of the file.
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

/** Names the paths with the fewest directories, and counts the others: `a.ts, src/b.ts and 3 more`. */
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
