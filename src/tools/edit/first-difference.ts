/** The options for comparing lines of a file with lines of a text that looks the same. */
interface Comparison {
  /** The line number (from 1) of the first compared line of the file. */
  readonly line: number;
  /** Removes the differences that a reader overlooks, such as white space, from a line. */
  fold(line: string): string;
}

/** The first difference between two texts. */
export interface TextDifference {
  /** A phrase that follows "At": the position of the difference, and what both texts have there. */
  readonly text: string;
  /** The position in the file. Both numbers start at 1. */
  readonly line: number;
  readonly column: number;
}

/**
 * The maximum length of a line in which the start of the matching part is searched for. In a longer line the search
 * would take too long.
 */
const MAX_LINE_LENGTH = 200_000;

/**
 * Finds the first difference between lines of a file and the text that was meant to match them. The text may begin in
 * the middle of the first line and end in the middle of the last line. Returns null if the difference cannot be
 * described.
 */
export function findFirstDifference(
  region: readonly string[],
  block: readonly string[],
  { line, fold }: Comparison,
): TextDifference | null {
  const [first = '', ...others] = region;
  if (first.length > MAX_LINE_LENGTH) return null;
  const start = findStart(first, block[0] ?? '', { fold, toEnd: others.length > 0 });
  const actual = [first.slice(start), ...others].join('\n');
  const wanted = block.join('\n');
  const at = findDifference(actual, wanted);
  const [has, wants] = [describePiece(actual, at), describePiece(wanted, at)];
  if (at === wanted.length || has === wants) return null;
  const before = actual.slice(0, at).split('\n');
  const number = line + before.length - 1;
  const column = (before.at(-1)?.length ?? 0) + 1 + (before.length === 1 ? start : 0);
  const text = `line ${number}, column ${column} the file has ${has}, and old_string has ${wants}`;
  return { text, line: number, column };
}

/**
 * Returns the position at which two texts differ. If the position is inside a letter with accents or a run of blanks,
 * returns its start.
 */
function findDifference(actual: string, wanted: string): number {
  let at = 0;
  while (at < actual.length && at < wanted.length && actual[at] === wanted[at]) at += 1;
  if (at === wanted.length) return at;
  const isWithin = (): boolean => {
    if (isCombiningMark(actual[at]) || isCombiningMark(wanted[at])) return true;
    return isBlank(actual[at - 1]) && (isBlank(actual[at]) || isBlank(wanted[at]));
  };
  while (at > 0 && isWithin()) at -= 1;
  return at;
}

/**
 * Finds the start of the part of a line that looks like `wanted`. With `toEnd`, the part ends at the end of the line.
 */
function findStart(
  line: string,
  wanted: string,
  { fold, toEnd }: Pick<Comparison, 'fold'> & { readonly toEnd: boolean },
): number {
  const folded = fold(wanted);
  const contains = (part: string): boolean =>
    toEnd ? part.endsWith(folded) : part.includes(folded);
  // This is a binary search for the rightmost start. It is valid because a longer part always contains the shorter
  // parts.
  let start = 0;
  let end = Math.max(line.length, 1);
  while (end - start > 1) {
    const middle = Math.floor((start + end) / 2);
    if (contains(fold(line.slice(middle)))) start = middle;
    else end = middle;
  }
  const blanks = start - line.slice(0, start).trimEnd().length;
  return isBlank(wanted[0]) ? start - blanks : start;
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && character !== '\n' && /\s/.test(character);
}

function isCombiningMark(character: string | undefined): boolean {
  return character !== undefined && /\p{M}/u.test(character);
}

const BLANK_NAMES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  ' ': ['blank', 'blanks'],
  '\t': ['tab', 'tabs'],
};

/** Describes the text at a position so that lookalikes can be distinguished. */
function describePiece(text: string, at: number): string {
  const rest = text.slice(at);
  const next = rest[0];
  if (next === undefined || next === '\n') return 'the end of the line';
  if (isBlank(next)) return describeBlanks(/^[^\S\n]+/.exec(rest)?.[0] ?? next);
  const letter = /^.\p{M}*/su.exec(rest)?.[0] ?? next;
  if (/^\p{Cf}/u.test(letter)) return formatCodePoints(letter);
  return /^[\w]$/.test(letter) ? JSON.stringify(letter) : `${letter} (${formatCodePoints(letter)})`;
}

/** Describes white space: `2 tabs and 1 blank`, and other kinds by their code points. */
function describeBlanks(blanks: string): string {
  const runs = blanks.match(/ +|\t+|[^ \t]/g) ?? [];
  return runs
    .map((run) => {
      const names = BLANK_NAMES[run[0] ?? ''];
      if (names === undefined) return formatCodePoints(run);
      return `${run.length} ${run.length === 1 ? names[0] : names[1]}`;
    })
    .join(' and ');
}

function formatCodePoints(text: string): string {
  return [...text]
    .map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}
