import { sanitizeForTerminal } from '../../../base/terminal-text.ts';
import type { Entry } from './entry.ts';
import { loadedEntries, visitDropped, type ScanLog } from './earlier-entries.ts';
import type { Transcript } from './transcript.ts';

/** An entry that matches a search, and the number of matches in it. */
export interface SearchMatch {
  readonly key: number;
  readonly count: number;
}

/** The maximum length of a search text, in UTF-16 units. */
const MAX_SEARCH_LENGTH = 200;

/** Searches the entries in memory, the oldest first. */
export function searchLoaded(transcript: Transcript, pattern: RegExp): readonly SearchMatch[] {
  return loadedEntries(transcript).flatMap((entry) => matchIn(entry, pattern));
}

/** Searches all entries. Entries that are not in memory are read from the log, so this takes as long as reading the log. */
export function searchLog(
  transcript: Transcript,
  scan: ScanLog,
  pattern: RegExp,
): readonly SearchMatch[] {
  const matches: SearchMatch[] = [];
  visitDropped(transcript, scan, (entry) => matches.push(...matchIn(entry, pattern)));
  return [...matches, ...transcript.entries.flatMap((entry) => matchIn(entry, pattern))];
}

/**
 * Returns the pattern that finds a typed text; null if the text is blank. The pattern ignores case, and white space in
 * the typed text matches any white space, including the end of a line.
 */
export function searchPattern(typed: string): RegExp | null {
  const words = typed
    .trim()
    .slice(0, MAX_SEARCH_LENGTH)
    .split(/\s+/u)
    .filter((word) => word !== '');
  if (words.length === 0) return null;
  return new RegExp(words.map(escaped).join(String.raw`\s+`), 'giu');
}

function escaped(word: string): string {
  return word.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`);
}

function matchIn(entry: Entry, pattern: RegExp): readonly SearchMatch[] {
  const count = [...sanitizeForTerminal(rawText(entry), 'prose').matchAll(pattern)].length;
  return count === 0 ? [] : [{ key: entry.key, count }];
}

/** Returns the text of an unfolded entry. */
function rawText(entry: Entry): string {
  switch (entry.kind) {
    case 'message':
    case 'answer':
    case 'thinking':
    case 'note':
      return entry.text;
    case 'retry':
      return entry.because;
    case 'worked':
      return '';
    case 'ended':
      return `${entry.status}: ${entry.reason ?? ''}`;
    case 'page':
      return [entry.title, ...entry.lines].join('\n');
    case 'call': {
      const changed = entry.edits.flatMap(({ lines }) =>
        lines.map((line) => (line.sign === '…' ? '' : line.text)),
      );
      const { tool, subject, todos, document, answer, output } = entry;
      const items = todos?.map(({ content }) => content) ?? [];
      const asked = [document, answer].filter((text) => text !== null);
      return [`${tool} ${subject}`, ...changed, ...items, ...asked, output].join('\n');
    }
    case 'child':
      return `${entry.subject} ${entry.status}`;
    case 'shell':
      return `!${entry.command}\n${entry.output}`;
    default:
      return entry satisfies never;
  }
}
