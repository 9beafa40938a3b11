import { byteLength, plural, truncate } from '../../base/text.ts';
import { excerptOf } from './match-excerpt.ts';
import { fitLines } from '../shared/output.ts';
import type { FileHits, FoundLine, SearchLimits, SearchResult } from '../search/search-types.ts';
import { SEARCH_TIME_MS } from '../search/search-scope.ts';

export type OutputMode = 'content' | 'files_with_matches' | 'count';

export interface FoundHits extends SearchResult {
  readonly limits: SearchLimits;
}

export interface HitStyle {
  readonly mode: OutputMode;
  /** A path of the result as the model should see it. */
  readonly show: (path: string) => string;
  readonly maxBytes: number;
  readonly pattern: string;
  readonly where: string;
  /** Keeps all hits where they do not fit, and says where. */
  readonly keepWhole: (text: string) => string;
  /** To be said after the hits. */
  readonly notes: readonly string[];
}

const NOTE_BYTES = 800;

/**
 * Hits as text: `path:line:text` and, for context, `path-line-text` with `--` between groups; paths
 * alone; or `path:count`. Then, in brackets, what was left out and why.
 */
export function describeHits(found: FoundHits, style: HitStyle): string {
  const said = fitLines(style.notes, Math.floor(style.maxBytes / 4)).lines;
  const noteBytes = NOTE_BYTES + byteLength(said.join('\n'));
  const lines = allLines(found, style);
  const fitted = fitLines(lines, style.maxBytes - noteBytes);
  const notes = fitted.left === 0 ? [] : [leftNote(fitted.left, style.keepWhole(lines.join('\n')))];
  notes.push(...describeRest(found, style.mode));
  if (found.files.length === 0) {
    notes.unshift(`[no match for ${truncate(style.pattern, 100)} in ${style.where}]`);
  }
  return [...fitted.lines, ...notes, ...said].join('\n');
}

function allLines(found: FoundHits, { mode, show }: HitStyle): string[] {
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
  show: HitStyle['show'],
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

function contentLine(path: string, line: FoundLine, { isBinary }: FileHits): string {
  const mark = line.matches ? ':' : '-';
  const text = excerptOf(line).replaceAll('\0', '\u2400');
  return `${path}${mark}${line.number}${mark}${isBinary === true ? withoutControls(text) : text}`;
}

function withoutControls(text: string): string {
  // oxlint-disable-next-line no-control-regex -- they are what is taken out
  return text.replaceAll(/[\u0001-\u0008\u000B-\u001F\u007F-\u009F]/g, '\uFFFD');
}

function leftNote(left: number, where: string): string {
  return `[${plural(left, 'more line')} did not fit: narrow the pattern, path or glob; ${where}]`;
}

function describeRest(found: FoundHits, mode: OutputMode): string[] {
  const notes: string[] = [];
  if (found.stopped === 'limit') {
    const most = mode === 'content' ? found.limits.maxMatches : found.limits.maxFiles;
    notes.push(`[stopped at ${plural(most, 'result')}: there may be more]`);
  }
  if (found.stopped === 'time') {
    notes.push(
      `[stopped after ${SEARCH_TIME_MS / 1000} s: there may be more; narrow the path or glob]`,
    );
  }
  return notes;
}
