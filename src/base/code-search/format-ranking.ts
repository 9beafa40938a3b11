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
  /** One sentence that says why it is shown. */
  readonly reason: string;
  /** The text of the line; null if it was not read or is empty. */
  readonly quote: string | null;
}

/** A place that covers less of the question is not shown. */
const LEAST_COVERAGE = 0.2;
/** Places that all cover less are shown with a warning. */
const GOOD_COVERAGE = 0.4;
const SHOWN_WORDS = 4;
const SHOWN_ABSENT = 6;
const QUOTED_CHARS = 160;

/**
 * Describes the best places of a ranking, or says that nothing fits.
 *
 * @param show returns a path as it is shown
 */
export function formatRanking(
  { locations: places, absent }: Ranking,
  { maxPlaces, show }: { readonly maxPlaces: number; readonly show: (path: string) => string },
): string {
  const shown = places.filter(({ coverage }) => coverage >= LEAST_COVERAGE).slice(0, maxPlaces);
  if (shown.length === 0) {
    const missing = absent.length === 0 ? '' : ` ${inNoFile(absent)}`;
    return `Nothing found that fits.${missing} Another word, or the name of a symbol or file, may help.`;
  }
  const isWeak = shown.every(({ coverage }) => coverage < GOOD_COVERAGE);
  const missing = absent.filter((word) => !WEAK_WORDS.has(word));
  return [
    ...(isWeak ? ['Nothing fits well. The nearest:'] : []),
    formatLocations(shown.map((place) => locationOf(place, show(place.path)))),
    ...(missing.length === 0 ? [] : [inNoFile(missing)]),
  ].join('\n\n');
}

/** Writes places as numbered lines, each with its quoted line below it. */
export function formatLocations(locations: readonly CodeLocation[]): string {
  return locations
    .flatMap(({ path, line, reason, quote }, index) => {
      const first = `${index + 1}. \`${path}:${line}\`: ${reason}`;
      return quote === null ? [first] : [first, `   > ${quote}`];
    })
    .join('\n');
}

/** Reads the places from a text with such lines, in its order. */
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
  const cut = truncate(flat, QUOTED_CHARS);
  return cut.length < flat.length ? `${cut}…` : cut;
}

function locationOf(place: RankedLocation, path: string): CodeLocation {
  const { line, text } = place;
  const quote = text.trim() === '' ? null : quoteLine(text);
  return { path, line: line ?? 1, reason: reasonFor(place), quote };
}

function reasonFor({ line, name, isDefinition, kind, ...place }: RankedLocation): string {
  const [matched, inPath] = [place.matched, place.inPath].map(withoutPartsOfNames);
  const parts: string[] = [];
  if (name !== null) parts.push(`${isDefinition ? 'defines' : 'in'} \`${name}\``);
  if (matched !== undefined && matched.length > 0) {
    const close = matched.length > 1 ? ' close together' : '';
    parts.push(
      `${name === null ? 'has' : 'with'} ${quotedWords(matched.slice(0, SHOWN_WORDS))}${close}`,
    );
  }
  if (inPath !== undefined && inPath.length > 0)
    parts.push(`${quotedWords(inPath.slice(0, SHOWN_WORDS))} in its path`);
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

function inNoFile(absent: readonly string[]): string {
  const words = withoutPartsOfNames(absent).slice(0, SHOWN_ABSENT);
  return `${quotedWords(words)} ${words.length === 1 ? 'stands' : 'stand'} in no file.`;
}

function quotedWords(words: readonly string[]): string {
  return words.map((word) => `“${word}”`).join(', ');
}
