import { WEAK_WORDS } from '../code/vocabulary.ts';
import { collapseWhitespace, truncate } from '../text.ts';
import { splitIdentifier } from '../word-stems.ts';
import type { RankedLocation, Ranking } from './rank.ts';

/** A location in the workspace, as an answer shows it. */
export interface CodeLocation {
  /** Relative to the working directory, with `/`. */
  readonly path: string;
  /** The line number, from 1. */
  readonly line: number;
  /** One sentence that says why the location is shown. */
  readonly reason: string;
  /** The text of the line; null if it was not read or is empty. */
  readonly quote: string | null;
}

/** The minimum coverage of the question for a location to be shown. */
const MIN_COVERAGE = 0.2;
/** If the coverage of all locations is below this value, a warning comes first. */
const GOOD_COVERAGE = 0.4;
const MAX_WORDS = 4;
const MAX_ABSENT_WORDS = 6;
const MAX_QUOTE_CHARS = 160;

/**
 * Describes the best locations of a ranking, or says that nothing fits.
 *
 * @param show formats a path for the reader
 */
export function formatRanking(
  { locations, absent }: Ranking,
  { maxPlaces, show }: { readonly maxPlaces: number; readonly show: (path: string) => string },
): string {
  const shown = locations.filter(({ coverage }) => coverage >= MIN_COVERAGE).slice(0, maxPlaces);
  if (shown.length === 0) {
    const missing = absent.length === 0 ? '' : ` ${describeAbsentWords(absent)}`;
    return `Nothing found that fits.${missing} Another word, or the name of a symbol or file, may help.`;
  }
  const isWeak = shown.every(({ coverage }) => coverage < GOOD_COVERAGE);
  const missing = absent.filter((word) => !WEAK_WORDS.has(word));
  return [
    ...(isWeak ? ['Nothing fits well. The nearest:'] : []),
    formatLocations(shown.map((location) => toCodeLocation(location, show(location.path)))),
    ...(missing.length === 0 ? [] : [describeAbsentWords(missing)]),
  ].join('\n\n');
}

/** Formats locations as numbered lines, each with the quoted line of the file below. */
export function formatLocations(locations: readonly CodeLocation[]): string {
  return locations
    .flatMap(({ path, line, reason, quote }, index) => {
      const first = `${index + 1}. \`${path}:${line}\`: ${reason}`;
      return quote === null ? [first] : [first, `   > ${quote}`];
    })
    .join('\n');
}

/** Parses the locations from a text that `formatLocations` has written, in the order of the text. */
export function parseLocations(text: string): readonly CodeLocation[] {
  const lines = text.split('\n');
  return lines.flatMap((each, index): CodeLocation[] => {
    const [, path, line, reason = ''] = /^\d+\. `(.+):(\d{1,9})`: (.*)$/.exec(each) ?? [];
    if (path === undefined || line === undefined) return [];
    const quote = /^ {3}> (.*)$/.exec(lines[index + 1] ?? '')?.[1] ?? null;
    return [{ path, line: Number(line), reason, quote }];
  });
}

/** Formats a line of a file without control characters, which could control a terminal. */
export function quoteLine(line: string): string {
  const flat = collapseWhitespace(line.replace(/\p{Cc}+/gu, ' '));
  const cut = truncate(flat, MAX_QUOTE_CHARS);
  return cut.length < flat.length ? `${cut}…` : cut;
}

function toCodeLocation(location: RankedLocation, path: string): CodeLocation {
  const { line, text } = location;
  const quote = text.trim() === '' ? null : quoteLine(text);
  return { path, line: line ?? 1, reason: explainMatch(location), quote };
}

function explainMatch({ line, name, isDefinition, kind, ...location }: RankedLocation): string {
  const [matched, inPath] = [location.matched, location.inPath].map(withoutPartsOfNames);
  const parts: string[] = [];
  if (name !== null) parts.push(`${isDefinition ? 'defines' : 'in'} \`${name}\``);
  if (matched !== undefined && matched.length > 0) {
    const close = matched.length > 1 ? ' close together' : '';
    parts.push(
      `${name === null ? 'has' : 'with'} ${quoteWords(matched.slice(0, MAX_WORDS))}${close}`,
    );
  }
  if (inPath !== undefined && inPath.length > 0)
    parts.push(`${quoteWords(inPath.slice(0, MAX_WORDS))} in its path`);
  // Without a line, the word is in a part of a long line that is not searched.
  if (parts.length === 0) parts.push(`holds ${line === null ? 'asked-for' : 'related'} words`);
  return `${parts.join(', ')}${kind === 'source' ? '' : ` (${kind})`}.`;
}

/** Drops the words that are parts of a name in the same list. */
function withoutPartsOfNames(words: readonly string[]): readonly string[] {
  const parts = new Set(
    words.map(splitIdentifier).flatMap((split) => (split.length > 1 ? split : [])),
  );
  return words.filter((word) => !parts.has(word.toLowerCase()));
}

function describeAbsentWords(absent: readonly string[]): string {
  const words = withoutPartsOfNames(absent).slice(0, MAX_ABSENT_WORDS);
  return `${quoteWords(words)} ${words.length === 1 ? 'stands' : 'stand'} in no file.`;
}

function quoteWords(words: readonly string[]): string {
  return words.map((word) => `“${word}”`).join(', ');
}
