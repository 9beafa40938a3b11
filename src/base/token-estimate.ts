import { classifyCharacter, type CharacterClass, type ScriptKind } from './character-class.ts';
import { estimatePairTokens } from './letter-pair-tokens.ts';

/**
 * Estimates the number of tokens of a text without a tokenizer. Compared with a current tokenizer
 * (o200k), the error for texts of 2,000 characters of code, prose, JSON, Chinese, Japanese and Korean is within
 * 10 % in the median and within 25 % at the 95th percentile. test/base/token-estimate.test.ts measures it.
 *
 * The text is split as such tokenizers split it (words with the space before them, groups of three digits, runs
 * of signs), and each piece counts as the average number of tokens of pieces of its kind and length. All numbers
 * in this file are such averages over repositories in many languages.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(estimateTokensUnrounded(text));
}

/** Estimates the number of tokens of a text without rounding, for sums. */
export function estimateTokensUnrounded(text: string): number {
  return scan(text, Infinity).tokens;
}

/**
 * The maximum estimate for one character: a letter with an accent between spaces. For a short text this bound is enough
 * where the estimate itself would take too long, as at the start of the program.
 */
export const MAX_TOKENS_PER_CHARACTER = 1.5;

/** Returns the length of the longest beginning of a text that takes about this many tokens. */
export function prefixLengthWithin(text: string, maxTokens: number): number {
  const { tokens, runStart, runTokens, end } = scan(text, maxTokens);
  if (tokens <= maxTokens) return end;
  // Only a part of the last run fits, and a run can be the full text.
  const left = maxTokens - (tokens - runTokens);
  return runStart + Math.floor(((end - runStart) * left) / runTokens);
}

interface Scan {
  readonly tokens: number;
  /** The start of the last run. */
  readonly runStart: number;
  /** The tokens of the last run. */
  readonly runTokens: number;
  readonly end: number;
}

/** Scans a text up to the end of the run in which the total exceeds `maxTokens`. */
function scan(text: string, maxTokens: number): Scan {
  let tokens = 0;
  let runTokens = 0;
  // One object serves for all runs, because a text has a run for every two or three characters.
  const run: Run = { kind: 'space', start: 0, end: 0, before: 'nothing' };
  while (run.end < text.length && tokens <= maxTokens) {
    run.start = run.end;
    run.kind = classifyCharacter(text.charCodeAt(run.start));
    run.end = findRunEnd(text, run.start, run.kind);
    runTokens = estimateRun(text, run);
    tokens += runTokens;
    run.before = toBefore(text, run);
  }
  return { tokens, runStart: run.start, runTokens, end: run.end };
}

/** A run of characters of one kind. */
interface Run {
  kind: CharacterClass;
  start: number;
  end: number;
  before: Before;
}

function estimateRun(text: string, run: Readonly<Run>): number {
  const { kind, start, end, before } = run;
  switch (kind) {
    case 'lower':
    case 'upper':
    case 'accented':
    case 'digit':
      return wordTokens(text, run);
    case 'space': {
      // The last blank belongs to the following piece. If a line end follows, all blanks belong to the line end.
      const next = classAt(text, end);
      return next === 'line_end' ? 0 : blankTokens(next === null ? end - start : end - start - 1);
    }
    case 'line_end':
      return before === 'signs' ? 0 : Math.ceil((end - start) / LINE_ENDS_PER_TOKEN);
    case 'sign':
      return leadsWord(text, run) ? 0 : signTokens(text, start, end);
    case 'symbol':
      return symbolTokens(text, start, end);
    default: {
      const { first, each } = SCRIPTS[kind];
      return first + each * (end - start);
    }
  }
}

function toBefore(text: string, run: Readonly<Run>): Before {
  if (run.kind === 'space') return 'blank';
  if (run.kind !== 'sign') return 'nothing';
  return leadsWord(text, run) ? 'sign' : 'signs';
}

/** Tells whether a run is a single sign right before a word, with which it forms one piece. */
function leadsWord(text: string, { start, end, before }: Readonly<Run>): boolean {
  if (end - start > 1 || before === 'blank') return false;
  const next = classAt(text, end);
  return next !== null && isLetter(next);
}

/** The character right before a word, if it belongs to the same piece as the word. */
type Lead = 'nothing' | 'blank' | 'sign';
/** The kind of the previous run. Line ends right after signs belong to the piece of the signs. */
type Before = Lead | 'signs';

const BLANKS_PER_TOKEN = 128;
const LINE_ENDS_PER_TOKEN = 16;
const REPEATED_SYMBOL_TOKENS = 0.15;

/** The cost of a run of a script: a fixed part, and a part for each UTF-16 unit. */
const SCRIPTS: Readonly<
  Record<Exclude<ScriptKind, 'symbol'>, { readonly first: number; readonly each: number }>
> = {
  cyrillic: { first: 0.65, each: 0.15 },
  greek: { first: 0.64, each: 0.394 },
  hebrew: { first: 0.43, each: 0.387 },
  arabic: { first: 0.79, each: 0.264 },
  indic: { first: 0.5, each: 0.36 },
  kana: { first: 0.4, each: 0.57 },
  han: { first: 0.3, each: 0.69 },
  hangul: { first: 0.55, each: 0.55 },
  wide_sign: { first: 0.2, each: 0.8 },
  surrogate: { first: 0, each: 0.9 },
};

/** The tokens of a word by its length, from one letter. Each letter beyond the last length costs more. */
const WORDS: Readonly<Record<Lead, readonly number[]>> = {
  blank: [1, 1, 1, 1.01, 1.02, 1.04, 1.06, 1.1, 1.17, 1.18, 1.2, 1.27, 1.25, 1.4],
  nothing: [1, 1.01, 1.07, 1.06, 1.1, 1.16, 1.22, 1.3, 1.55, 1.55, 1.6, 1.9, 2.3, 2.9],
  sign: [1.05, 1.1, 1.2, 1.16, 1.28, 1.33, 1.48, 1.64, 1.82, 2.06, 2, 2.5, 2.6, 2.7],
};
const CAPITALS: Readonly<Record<Lead, readonly number[]>> = {
  blank: [1, 1, 1.12, 1.22, 1.57, 1.72, 1.4, 1.6, 1.88, 1.7, 2.5],
  nothing: [1, 1.05, 1.32, 1.37, 1.7, 1.85, 1.75, 2.25, 2.7, 2.9, 3.1],
  sign: [1.09, 1.2, 1.32, 1.35, 1.56, 1.76, 1.97, 2.25, 2.2, 2.9, 2.9],
};
/**
 * The cost of a word with accented letters. It is above the average of such words, because the other words of
 * such a text cost more too.
 */
const ACCENTED = { first: 1.35, each: 0.11 };
/** The cost of each letter beyond the last length in `WORDS` or `CAPITALS`. */
const LETTER_MORE = 0.25;
/** The cost of each letter beyond four in a word with a capital: a name, or a German noun. */
const NAME_MORE = 0.05;

function wordTokens(text: string, run: Readonly<Run>): number {
  const { kind, start, end } = run;
  // The blank before a number is a token of its own.
  let tokens = kind === 'digit' && run.before === 'blank' ? 1 : 0;
  let pieces = 0;
  let mixed = 0;
  let before: Lead = run.before === 'signs' ? 'nothing' : run.before;
  for (let at = start; at < end;) {
    const digits = findClassEnd(text, at, end, 'digit');
    if (digits > at) {
      const threes = Math.ceil((digits - at) / 3);
      tokens += threes;
      pieces += threes;
      at = digits;
    } else {
      const capitals = findClassEnd(text, at, end, 'upper');
      const { end: letters, accents } = findLettersEnd(text, capitals, end);
      const piece = pieceTokens(capitals - at, letters - capitals, accents, before);
      const isWord = letters > capitals && capitals - at < 2;
      tokens += isWord ? Math.max(1, piece + estimatePairTokens(text, at, letters)) : piece;
      if (capitals > at) mixed += 1;
      pieces += 1;
      at = letters;
    }
    before = 'nothing';
  }
  const length = end - start;
  const isScrambled = length >= 16 && mixed > 2 && pieces * 3.6 > length;
  return isScrambled ? Math.max(tokens, length * 0.68) : tokens;
}

function pieceTokens(capitals: number, others: number, accents: number, before: Lead): number {
  const length = capitals + others;
  if (accents > 0) return ACCENTED.first + ACCENTED.each * length;
  if (capitals > 1 && others > 0)
    return before === 'blank' ? 0.8 + 0.2 * length : 0.9 + 0.4 * length;
  const means = capitals > 1 ? CAPITALS[before] : WORDS[before];
  const last = means[Math.min(length, means.length) - 1] ?? 1;
  const named = capitals === 1 && before !== 'sign' ? Math.max(0, length - 4) * NAME_MORE : 0;
  return last + named + Math.max(0, length - means.length) * LETTER_MORE;
}

/** Counts the tokens of symbols. A repeated symbol costs little, as in rules and frames. */
function symbolTokens(text: string, at: number, end: number): number {
  let tokens = 1;
  for (let each = at + 1; each < end; each += 1) {
    tokens += text.charCodeAt(each) === text.charCodeAt(each - 1) ? REPEATED_SYMBOL_TOKENS : 1;
  }
  return tokens;
}

function signTokens(text: string, at: number, end: number): number {
  let changes = 1;
  let repeated = 0;
  for (let each = at + 1; each < end; each += 1) {
    if (text.charCodeAt(each) !== text.charCodeAt(each - 1)) changes += 1;
    else repeated += 1;
  }
  const signs = changes <= 2 ? 1 : changes * 0.5 - 0.1;
  return Math.max(1, signs) + Math.floor(repeated / 64);
}

function blankTokens(length: number): number {
  return Math.ceil(length / BLANKS_PER_TOKEN);
}

function findRunEnd(text: string, at: number, kind: CharacterClass): number {
  const together = isAlphanumeric(kind);
  let end = at + 1;
  for (; end < text.length; end += 1) {
    const next = classifyCharacter(text.charCodeAt(end));
    if (together ? !isAlphanumeric(next) : next !== kind) break;
  }
  return end;
}

function findClassEnd(text: string, at: number, limit: number, kind: CharacterClass): number {
  let end = at;
  while (end < limit && classifyCharacter(text.charCodeAt(end)) === kind) end += 1;
  return end;
}

function findLettersEnd(text: string, at: number, limit: number) {
  let accents = 0;
  let end = at;
  for (; end < limit; end += 1) {
    const kind = classifyCharacter(text.charCodeAt(end));
    if (kind === 'accented') accents += 1;
    else if (kind !== 'lower') break;
  }
  return { end, accents };
}

function classAt(text: string, at: number): CharacterClass | null {
  return at < text.length ? classifyCharacter(text.charCodeAt(at)) : null;
}

function isLetter(kind: CharacterClass): boolean {
  return kind === 'lower' || kind === 'upper' || kind === 'accented';
}

function isAlphanumeric(kind: CharacterClass): boolean {
  return isLetter(kind) || kind === 'digit';
}
