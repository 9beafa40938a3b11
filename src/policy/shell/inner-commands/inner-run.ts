import { findDoubt } from '../parsed-line.ts';
import type { ShellParser, ShellWord, SimpleCommand } from '../parsed-line.ts';

/** Something that a program is told to run by its arguments. */
export interface InnerRun {
  /** The word that tells it, counted from the program, which is 0. A rule that names this word means this run. */
  readonly index: number;
  /** The commands that are run, or could be. */
  readonly commands: readonly SimpleCommand[];
  /**
   * Whether these are all: `all`; `some`, where it may run others, in a language that is not read here or by an
   * option that is not known; `none`, where a shell gets a text that the line does not show.
   */
  readonly visible: 'all' | 'some' | 'none';
  /** Where the only command is the rest of the words: its first word, counted like `at`. */
  readonly tail?: number;
}

/** Finds what a program is told to run by the words behind it. In its answer the first of them is 0. */
export type InnerRunFinder = (
  words: readonly ShellWord[],
  parser: ShellParser,
) => readonly InnerRun[];

export function createCommand(words: readonly ShellWord[], isOpenEnded = false): SimpleCommand {
  return { words, hasAssignments: false, isOpenEnded };
}

/** Words that a shell gets as one text. */
export function parseScriptRun(
  at: number,
  words: readonly (ShellWord | undefined)[],
  parser: ShellParser,
): InnerRun {
  if (words.some((word) => word === undefined || word.value === null)) return createHiddenRun(at);
  const reading = parser(words.map((word) => word?.value).join(' '));
  if (reading.errors.length > 0) return { index: at, commands: reading.commands, visible: 'none' };
  const isPlain = findDoubt(reading) === undefined;
  return { index: at, commands: reading.commands, visible: isPlain ? 'all' : 'some' };
}

/** A run of which the line shows nothing. */
export function createHiddenRun(at: number): InnerRun {
  return { index: at, commands: [], visible: 'none' };
}

/** A run that may be of anything, though nothing says that it is. */
export function createOpenRun(at: number, commands: readonly SimpleCommand[] = []): InnerRun {
  return { index: at, commands, visible: 'some' };
}

const STRINGS = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`/g;
const MAX_STRINGS = 50;

/**
 * Code in a language that is not read here. Any text in quotes in it could be a command that it runs, or the
 * start of one.
 */
export function parseCodeRun(
  at: number,
  code: ShellWord | undefined,
  parser: ShellParser,
): InnerRun {
  const texts = [...(code?.value ?? '').matchAll(STRINGS)].map(
    ([, double, single, back]) => double ?? single ?? back ?? '',
  );
  const commands = texts.slice(0, MAX_STRINGS).flatMap((text) => parser(text).commands);
  return createOpenRun(at, commands.map(makeOpenEnded));
}

/** A command to which words may be added that the line does not show. */
export function makeOpenEnded({ words, hasAssignments }: SimpleCommand): SimpleCommand {
  return { words, hasAssignments, isOpenEnded: true };
}

/**
 * Whether a word may turn out to be an option: an expansion may stand for anything, and a pattern that starts with
 * a wildcard for a file whose name is an option.
 */
export function canBeOption({ value, form, text }: ShellWord): boolean {
  if (value !== null) return value.startsWith('-');
  if (form === 'home' || form === 'pipe') return false;
  return /^["']*(?:[-$`*?[{!@+]|$)/.test(text);
}

/** A word of which the text is known. */
export function createLiteralWord(value: string): ShellWord {
  return { text: value, value, form: 'literal', path: value };
}
