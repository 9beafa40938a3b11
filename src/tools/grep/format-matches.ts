import { byteLength, plural, truncate } from '../../base/text.ts';
import { fitLines } from '../shared/output.ts';
import {
  type FileHits,
  type SearchLine,
  type SearchLimits,
  type SearchResult,
  LONG_LINE_CHARACTERS,
  MAX_SPANS,
  type TextSpan,
} from '../search/search-types.ts';
import { SEARCH_TIME_MS } from '../search/search-scope.ts';

/** The output modes of Grep. */
export type OutputMode = 'content' | 'files_with_matches' | 'count';

/** The matches of a search, and the limits of that search. */
export interface FoundHits extends SearchResult {
  readonly limits: SearchLimits;
}

/** The options for formatting matches. */
export interface MatchFormat {
  readonly mode: OutputMode;
  /** Formats a path for the model. */
  readonly show: (path: string) => string;
  readonly maxBytes: number;
  readonly pattern: string;
  /** The searched path, for messages. */
  readonly where: string;
  /** Saves all matches if they do not fit into the result, and returns a phrase that says where they are. */
  readonly saveAll: (text: string) => string;
  /** Notes to add after the matches. */
  readonly notes: readonly string[];
}

const NOTE_BYTES = 800;

/**
 * Formats matches as text, depending on the mode: `path:line:text` (with `path-line-text` for context lines and `--`
 * between groups), only the paths, or `path:count`. Notes in brackets follow that say what was left out and why.
 */
export function formatMatches(found: FoundHits, format: MatchFormat): string {
  const extraNotes = fitLines(format.notes, Math.floor(format.maxBytes / 4)).lines;
  const noteBytes = NOTE_BYTES + byteLength(extraNotes.join('\n'));
  const allLines = formatLines(found, format);
  const { lines, remaining } = fitLines(allLines, format.maxBytes - noteBytes);
  const notes = [
    ...(found.files.length === 0
      ? [`[no match for ${truncate(format.pattern, 100)} in ${format.where}]`]
      : []),
    ...(remaining === 0 ? [] : [noteUnfit(remaining, format.saveAll(allLines.join('\n')))]),
    ...describeStop(found, format.mode),
  ];
  return [...lines, ...notes, ...extraNotes].join('\n');
}

function formatLines(found: FoundHits, { mode, show }: MatchFormat): string[] {
  switch (mode) {
    case 'files_with_matches':
      return found.files.map((file) => show(file.path));
    case 'count':
      return found.files.map((file) => {
        const more = file.matches >= found.limits.maxMatchesPerFile ? '+' : '';
        return `${show(file.path)}:${file.matches}${more}`;
      });
    case 'content':
      return contentLines(found.files, found.limits, show);
  }
}

function contentLines(
  files: readonly FileHits[],
  { maxMatches }: SearchLimits,
  show: MatchFormat['show'],
): string[] {
  const shown: string[] = [];
  let matches = 0;
  for (const file of files) {
    const path = show(file.path);
    let last: number | undefined;
    for (const line of file.lines) {
      if (line.matches) matches += 1;
      if (matches > maxMatches) return shown;
      if (last !== undefined && line.number > last + 1 && hasContext(files)) shown.push('--');
      last = line.number;
      shown.push(contentLine(path, line, file));
    }
  }
  return shown;
}

function hasContext(files: readonly FileHits[]): boolean {
  return files.some((file) => file.lines.some((line) => !line.matches));
}

function contentLine(path: string, line: SearchLine, { isBinary }: FileHits): string {
  const separator = line.matches ? ':' : '-';
  const text = excerptLine(line).replaceAll('\0', '\u2400');
  return `${path}${separator}${line.number}${separator}${isBinary === true ? replaceControls(text) : text}`;
}

function replaceControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- this function replaces control characters
  return text.replaceAll(/[\u0001-\u0008\u000B-\u001F\u007F-\u009F]/g, '\uFFFD');
}

function noteUnfit(count: number, where: string): string {
  return `[${plural(count, 'more line')} did not fit: narrow the pattern, path or glob; ${where}]`;
}

function describeStop(found: FoundHits, mode: OutputMode): string[] {
  const notes: string[] = [];
  if (found.stopped === 'limit') {
    const maxResults = mode === 'content' ? found.limits.maxMatches : found.limits.maxFiles;
    notes.push(`[stopped at ${plural(maxResults, 'result')}: there may be more]`);
  }
  if (found.stopped === 'time') {
    notes.push(
      `[stopped after ${SEARCH_TIME_MS / 1000} s: there may be more; narrow the path or glob]`,
    );
  }
  return notes;
}

/** The number of characters before and after each match that are shown of a long line. */
const CONTEXT_CHARACTERS = 60;

/**
 * Shortens a long line to the parts around its matches, or to its beginning if it has no matches, and says what was
 * cut.
 */
function excerptLine({ text, spans = [] }: SearchLine): string {
  if (text.length <= LONG_LINE_CHARACTERS) return text;
  const windows = windowsAround(spans, text.length);
  const parts = windows.map(([from, to]) =>
    text.slice(characterStart(text, from), characterStart(text, to)),
  );
  const shown = spans.filter(([from]) =>
    windows.some((window) => from >= window[0] && from <= window[1]),
  );
  const first = windows[0]?.[0] ?? 0;
  const isEnd = (windows.at(-1)?.[1] ?? 0) >= text.length;
  const total = `${spans.length}${spans.length >= MAX_SPANS ? '+' : ''}`;
  const count = spans.length > shown.length ? `, ${shown.length} of ${total} matches shown` : '';
  const place = first === 0 ? '' : `, shown from character ${first + 1} of ${text.length}`;
  return `${first === 0 ? '' : '… '}${parts.join(' … ')}${isEnd ? ' ' : '… '}[line cut${place}${count}]`;
}

/** Returns the parts of a long line to show, in order. Their total length is LONG_LINE_CHARACTERS. */
function windowsAround(spans: readonly TextSpan[], length: number): readonly TextSpan[] {
  const windows: [number, number][] = [];
  let remaining = LONG_LINE_CHARACTERS;
  for (const [start, end] of spans) {
    const last = windows.at(-1);
    const from = Math.max(start - CONTEXT_CHARACTERS, last?.[1] ?? 0, 0);
    const to = Math.min(Math.max(end + CONTEXT_CHARACTERS, from), length, from + remaining);
    if (to <= from || (to < end && windows.length > 0)) break;
    if (last !== undefined && from === last[1]) last[1] = to;
    else windows.push([from, to]);
    remaining -= to - from;
  }
  const last = windows.at(-1);
  if (last === undefined) return [[0, LONG_LINE_CHARACTERS]];
  const extension = Math.min(remaining, length - last[1]);
  last[1] += extension;
  const [first] = windows;
  if (first !== undefined) first[0] = Math.max(first[0] - (remaining - extension), 0);
  return windows;
}

/**
 * Returns a position in a text. If the position is in the middle of a surrogate pair, returns the start of the pair.
 */
function characterStart(text: string, at: number): number {
  const isInsidePair =
    /[\uDC00-\uDFFF]/.test(text.charAt(at)) && /[\uD800-\uDBFF]/.test(text.charAt(at - 1));
  return isInsidePair ? at - 1 : at;
}
