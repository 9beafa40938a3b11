import { truncate } from '../../base/text.ts';
import { findFirstDifference, type TextDifference } from './first-difference.ts';
import { formatLineNumbers } from '../shared/output.ts';

/** A kind of difference between the text of a model and the text of a file that look the same. */
interface LookalikeRule {
  /** A phrase that follows "except for". */
  readonly name: string;
  /** Removes this difference from a line, so that lines that differ only in this way become equal. */
  fold(line: string): string;
}

const CASE: LookalikeRule = { name: 'upper and lower case', fold: (line) => line.toLowerCase() };

/** Matches full-width forms, ligatures, circled and raised numbers, fractions and mathematical letters. */
const COMPATIBILITY_CHARACTERS =
  /[\u00B2\u00B3\u00B9\u00BC-\u00BE\u2070-\u209F\u2150-\u215F\u2460-\u24FF\uFB00-\uFB06\uFF01-\uFF0C\uFF0E-\uFF5E\u{1D400}-\u{1D7FF}]/gu;

/** The characters that HTML writes as references. */
const HTML_REFERENCES: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
  '&apos;': "'",
  '&amp;': '&',
};

const ESCAPES: LookalikeRule = {
  name: 'backslashes in front of quotes',
  fold: (line) => line.replaceAll(/\\(["'`])/g, '$1'),
};

const HTML: LookalikeRule = {
  name: 'characters written as in HTML (&lt;)',
  fold: (line) =>
    line.replaceAll(/&(?:lt|gt|quot|#39|apos|amp);/g, (each) => HTML_REFERENCES[each] ?? each),
};

const LOOKALIKE_RULES: readonly LookalikeRule[] = [
  ESCAPES,
  HTML,
  {
    name: 'full-width letters, ligatures or the like',
    fold: (line) =>
      line.replaceAll(COMPATIBILITY_CHARACTERS, (each) =>
        each.normalize('NFKC').replaceAll('\u2044', '/'),
      ),
  },
  {
    name: 'typographic quotes',
    fold: (line) =>
      line
        .replaceAll(/[\u2018-\u201B\u2039\u203A\u2032\u02BC\u00B4`]/g, "'")
        .replaceAll(/[\u201C-\u201F\u00AB\u00BB\u2033\u300C-\u300F]/g, '"'),
  },
  {
    name: 'typographic dashes',
    fold: (line) =>
      line.replaceAll(/[\u2010-\u2015\u2212\uFE58\uFE63\uFF0D]/g, '-').replaceAll(/-{2,3}/g, '-'),
  },
  { name: 'an ellipsis', fold: (line) => line.replaceAll('\u2026', '...') },
  { name: 'composed or decomposed letters (NFC, NFD)', fold: (line) => line.normalize('NFC') },
  {
    name: 'invisible characters',
    fold: (line) =>
      line.replaceAll(/[\u00AD\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u2069\uFEFF]/g, ''),
  },
  {
    name: 'no-break or other special blanks',
    fold: (line) => line.replaceAll(/[\u00A0\u1680\u2000-\u200A\u202F\u205F\u3000]/g, ' '),
  },
  // Spaces, tabs, indentation, and white space before line ends.
  {
    name: 'white space',
    fold: (line) => line.replaceAll(/[ \t\r\f\v]+/g, ' ').replaceAll(/^ | $/g, ''),
  },
  { name: 'single and double quotes', fold: (line) => line.replaceAll('"', "'") },
  CASE,
];

const PLAIN_ASCII = /^[\x20-\x5F\x61-\x7E\t]*$/;
const MAX_SHOWN_MATCHES = 3;
/** The limits of the search for near misses, which must be quick, because it only improves an error message. */
const MAX_MATCHES = 11;
const MAX_COMPARISONS = 5_000_000;
const MAX_SIMILAR_LINES = 100;
const MAX_SHOWN_LINE_LENGTH = 120;
const MAX_SHOWN_LINES = 8;

/**
 * Removes all differences that a near miss may have from a line.
 *
 * @param without a difference that is not removed
 */
function foldLine(line: string, without?: LookalikeRule): string {
  return LOOKALIKE_RULES.reduce((text, each) => (each === without ? text : each.fold(text)), line);
}

/** Returns the same as `foldLine`. For most lines, this function is faster. */
function foldQuickly(line: string): string {
  if (!PLAIN_ASCII.test(line)) return foldLine(line);
  return HTML.fold(ESCAPES.fold(line))
    .trim()
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/-{2,3}/g, '-')
    .replaceAll('"', "'")
    .toLowerCase();
}

/** Returns the lines of the text to find, without empty lines at its beginning and end. */
function splitBlock(wanted: string): readonly string[] {
  const lines = wanted.split(/\r?\n/);
  const hasText = (line: string): boolean => foldLine(line) !== '';
  const first = lines.findIndex(hasText);
  return first === -1 ? [] : lines.slice(first, lines.findLastIndex(hasText) + 1);
}

/**
 * Explains why a text was not found in a file. The explanation names the lines that would match except for differences
 * that are easily overlooked, and the first of these differences. If there are no such lines, it names the lines that
 * resemble the first line of the text. This search only serves the message. It never causes a replacement.
 */
export function explainMiss(text: string, wanted: string): string {
  const lines = text.split(/\r?\n/);
  const block = splitBlock(wanted);
  const folded = lines.map(foldQuickly);
  const wantedFolded = block.map((line) => foldLine(line));
  const positions = findBlock(folded, wantedFolded);
  if (positions.length > 0) return describeNearMiss(lines, block, { positions, wanted });
  if (/^\s*\d+\t/.test(wanted)) {
    return 'old_string was not found: it begins with a line number of Read. Leave out the number and the tab.';
  }
  return describeSimilarLines(lines, block);
}

/**
 * Returns the indexes of the lines at which a folded block begins. The first and last line of the block may match a
 * part of a line.
 */
function findBlock(lines: readonly string[], block: readonly string[]): readonly number[] {
  const found: number[] = [];
  let compared = 0;
  const last = block.length === 0 ? -1 : lines.length - block.length;
  for (
    let at = 0;
    at <= last && found.length < MAX_MATCHES && compared < MAX_COMPARISONS;
    at += 1
  ) {
    const differs = block.findIndex(
      (_, index) => !lineMatches(lines[at + index] ?? '', block, index),
    );
    if (differs === -1) found.push(at);
    compared += differs === -1 ? block.length : differs + 1;
  }
  return found;
}

/**
 * Returns whether a line of the file matches one line of a block. The first line of the block matches the end of a
 * line, the last one the beginning, and all others a complete line.
 */
function lineMatches(line: string, block: readonly string[], index: number): boolean {
  const wanted = block[index] ?? '';
  const last = block.length - 1;
  if (last === 0) return line.includes(wanted);
  if (index === 0) return line.endsWith(wanted);
  return index === last ? line.startsWith(wanted) : line === wanted;
}

function describeNearMiss(
  lines: readonly string[],
  block: readonly string[],
  { positions, wanted }: { readonly positions: readonly number[]; readonly wanted: string },
): string {
  const shown = positions.slice(0, MAX_SHOWN_MATCHES);
  const first = shown[0] ?? 0;
  const region = lines.slice(first, first + block.length);
  const lineNumbers = formatLineNumbers(positions.map((at) => at + 1));
  const difference = findFirstDifference(region, block, { line: first + 1, fold: foldLine });
  const where = difference === null ? '' : ` At ${difference.text}.`;
  const isLast = first + block.length === lines.length && wanted.endsWith('\n');
  const surroundings = isLast
    ? 'the line end after it, which the file does not have'
    : 'empty lines around it';
  const differences = describeDifferences(region, block) || surroundings;
  return [
    `old_string was not found; ${lineNumbers} would match except for ${differences}.${where} Copy it exactly as it stands in the file:`,
    ...shown.flatMap((at) => numberLines(lines, at, { count: block.length, difference })),
  ].join('\n');
}

/** Names the kinds of differences that keep the block from matching. */
function describeDifferences(region: readonly string[], block: readonly string[]): string {
  const preventing = LOOKALIKE_RULES.filter((each) => {
    const fold = (line: string): string => foldLine(line, each);
    const wanted = block.map(fold);
    return !region.every((line, index) => lineMatches(fold(line), wanted, index));
  });
  const isPresent = (each: LookalikeRule): boolean =>
    [...region, ...block].some((line) => each.fold(line) !== line);
  const differences = (
    preventing.length === 0 ? LOOKALIKE_RULES.filter(isPresent) : preventing
  ).map(({ name }) => name);
  const last = differences.at(-1) ?? '';
  return differences.length < 2 ? last : `${differences.slice(0, -1).join(', ')} and ${last}`;
}

function numberLines(
  lines: readonly string[],
  from: number,
  {
    count,
    difference = null,
  }: { readonly count: number; readonly difference?: TextDifference | null },
): readonly string[] {
  const shown = lines.slice(from, from + Math.min(count, MAX_SHOWN_LINES));
  const more = count > MAX_SHOWN_LINES ? [`… up to line ${from + count}`] : [];
  return [
    ...shown.map((line, index) => {
      const number = from + index + 1;
      return `${number}\t${excerptAround(line, number === difference?.line ? difference.column : 1)}`;
    }),
    ...more,
  ];
}

/** Returns a line, or if it is long, the part of the line around a column. */
function excerptAround(line: string, column: number): string {
  const text = line.trimEnd();
  const from = column < MAX_SHOWN_LINE_LENGTH ? 0 : column - 1 - MAX_SHOWN_LINE_LENGTH / 2;
  return `${from === 0 ? '' : '…'}${truncate(text.slice(from), MAX_SHOWN_LINE_LENGTH)}`;
}

/** Describes the lines that resemble the first line of the block, and how many lines of the block match from there. */
function describeSimilarLines(lines: readonly string[], block: readonly string[]): string {
  const folded = lines.map((line) => foldLine(line, CASE));
  const wantedFolded = block.map((line) => foldLine(line, CASE));
  const first = wantedFolded[0] ?? '';
  const countEqualLines = (at: number): number => {
    const differs = wantedFolded.findIndex((wanted, index) => folded[at + index] !== wanted);
    return differs === -1 ? wantedFolded.length : differs;
  };
  const near: { readonly at: number; readonly same: number }[] = [];
  for (let at = 0; at < folded.length; at += 1) {
    if (isSimilar(folded[at] ?? '', first)) near.push({ at, same: countEqualLines(at) });
    if (near.length === MAX_SIMILAR_LINES) break;
  }
  if (near.length === 0) return 'old_string was not found, and no line resembles its first line.';
  const longest = near.toSorted((a, b) => b.same - a.same)[0];
  const head = 'old_string was not found completely.';
  if (longest !== undefined && longest.same > 1 && longest.same < block.length) {
    const { at, same } = longest;
    const differing = at + same + 1;
    const differingLine = lines[differing - 1];
    const end = differingLine === undefined ? 'the file ends' : `line ${differing} differs`;
    const shown =
      differingLine === undefined ? [] : numberLines(lines, differing - 1, { count: 1 });
    const wanted = truncate(block[same] ?? '', MAX_SHOWN_LINE_LENGTH);
    return [
      `${head} Its first ${same} lines are at line ${at + 1}, then ${end}:`,
      ...shown,
      `and old_string has: ${wanted}`,
    ].join('\n');
  }
  const shown = near
    .slice(0, MAX_SHOWN_MATCHES)
    .flatMap(({ at }) => numberLines(lines, at, { count: 1 }));
  return [`${head} These lines resemble its first line:`, ...shown].join('\n');
}

/**
 * Returns whether a line resembles the first line of the block. A short line such as a brace does not resemble a longer
 * one.
 */
function isSimilar(line: string, first: string): boolean {
  if (line === '' || first === '') return false;
  return line.includes(first) || (line.length * 2 > first.length && first.includes(line));
}
