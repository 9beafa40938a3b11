/** How two texts that look the same are compared. */
interface Comparison {
  /** Number of the first line of the file's text. */
  readonly line: number;
  /** Takes out of a line what may differ. */
  fold(line: string): string;
}

export interface Difference {
  /** In words that follow "at": where it is, and what stands there in both texts. */
  readonly text: string;
  /** Both from 1, in the file. */
  readonly line: number;
  readonly column: number;
}

/** In a longer line it would take too long to find where a part of it begins. */
const MAX_ALIGNED = 200_000;

/**
 * Finds what differs first between lines of a file and the lines that were meant by them. The first line wanted
 * may begin in the middle of the file's line, and the last may end in it. Null: nothing that can be named.
 */
export function firstDifference(
  region: readonly string[],
  block: readonly string[],
  { line, fold }: Comparison,
): Difference | null {
  const [first = '', ...others] = region;
  if (first.length > MAX_ALIGNED) return null;
  const start = startOf(first, block[0] ?? '', { fold, toEnd: others.length > 0 });
  const there = [first.slice(start), ...others].join('\n');
  const wanted = block.join('\n');
  const at = differsAt(there, wanted);
  const [has, meant] = [pieceAt(there, at), pieceAt(wanted, at)];
  if (at === wanted.length || has === meant) return null;
  const before = there.slice(0, at).split('\n');
  const number = line + before.length - 1;
  const column = (before.at(-1)?.length ?? 0) + 1 + (before.length === 1 ? start : 0);
  const text = `line ${number}, column ${column} the file has ${has}, and old_string has ${meant}`;
  return { text, line: number, column };
}

/** Where two texts differ: not between a letter and its accents, nor within a run of blanks. */
function differsAt(there: string, wanted: string): number {
  let at = 0;
  while (at < there.length && at < wanted.length && there[at] === wanted[at]) at += 1;
  if (at === wanted.length) return at;
  const isWithin = (): boolean => {
    if (isMark(there[at]) || isMark(wanted[at])) return true;
    return isBlank(there[at - 1]) && (isBlank(there[at]) || isBlank(wanted[at]));
  };
  while (at > 0 && isWithin()) at -= 1;
  return at;
}

/** Where in a line the part begins that reads like `wanted`; `toEnd`: it goes to the end of the line. */
function startOf(
  line: string,
  wanted: string,
  { fold, toEnd }: Pick<Comparison, 'fold'> & { readonly toEnd: boolean },
): number {
  const folded = fold(wanted);
  const holds = (part: string): boolean => (toEnd ? part.endsWith(folded) : part.includes(folded));
  // The part that begins furthest to the right. A part that holds it does so with more in front of it, too.
  let start = 0;
  let end = Math.max(line.length, 1);
  while (end - start > 1) {
    const middle = Math.floor((start + end) / 2);
    if (holds(fold(line.slice(middle)))) start = middle;
    else end = middle;
  }
  const blanks = start - line.slice(0, start).trimEnd().length;
  return isBlank(wanted[0]) ? start - blanks : start;
}

function isBlank(character: string | undefined): boolean {
  return character !== undefined && character !== '\n' && /\s/.test(character);
}

function isMark(character: string | undefined): boolean {
  return character !== undefined && /\p{M}/u.test(character);
}

const NAMES: Readonly<Record<string, readonly [one: string, many: string]>> = {
  ' ': ['blank', 'blanks'],
  '\t': ['tab', 'tabs'],
};

/** What stands at a position, named so that look-alikes can be told apart. */
function pieceAt(text: string, at: number): string {
  const rest = text.slice(at);
  const next = rest[0];
  if (next === undefined || next === '\n') return 'the end of the line';
  if (isBlank(next)) return namedBlanks(/^[^\S\n]+/.exec(rest)?.[0] ?? next);
  const letter = /^.\p{M}*/su.exec(rest)?.[0] ?? next;
  if (/^\p{Cf}/u.test(letter)) return codePoints(letter);
  return /^[\w]$/.test(letter) ? JSON.stringify(letter) : `${letter} (${codePoints(letter)})`;
}

/** `2 tabs and 1 blank`; another kind of blank by its code point. */
function namedBlanks(blanks: string): string {
  const runs = blanks.match(/ +|\t+|[^ \t]/g) ?? [];
  return runs
    .map((run) => {
      const names = NAMES[run[0] ?? ''];
      if (names === undefined) return codePoints(run);
      return `${run.length} ${run.length === 1 ? names[0] : names[1]}`;
    })
    .join(' and ');
}

function codePoints(text: string): string {
  return [...text]
    .map((each) => `U+${(each.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`)
    .join(' ');
}
