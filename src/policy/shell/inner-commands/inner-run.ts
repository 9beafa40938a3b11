import { findDoubt, type ShellParser, type ShellWord, type SimpleCommand } from '../parsed-line.ts';

/** Something that a program runs because its arguments say so. */
export interface InnerRun {
  /** The index of the word that causes the run; the program is 0. A rule that names this word covers this run. */
  readonly index: number;
  /** The commands that run, or could run. */
  readonly commands: readonly SimpleCommand[];
  /**
   * The part of the run that the line shows. `all`: these are all commands. `some`: others may run, by code in a language that
   * is not parsed here or by an unknown option. `none`: a shell gets a text that the line does not show.
   */
  readonly visible: 'all' | 'some' | 'none';
  /** If the only command is the rest of the words: the index of its first word, counted like `index`. */
  readonly tail?: number;
}

/** Finds what a program runs because of the words after it. In the result the first of these words has the index 0. */
export type InnerRunFinder = (
  words: readonly ShellWord[],
  parser: ShellParser,
) => readonly InnerRun[];

export function createCommand(words: readonly ShellWord[], isOpenEnded = false): SimpleCommand {
  return { words, hasAssignments: false, isOpenEnded };
}

/** Lists the commands that could start at any of the words, where nobody knows at which. */
export function listPossibleCommands(
  words: readonly ShellWord[],
  isOpenEnded = true,
): readonly SimpleCommand[] {
  return words.map((_, index) => createCommand(words.slice(index), isOpenEnded));
}

/** Creates the run of words that a shell gets as one text. */
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

/** Creates a run of which the line shows nothing. */
export function createHiddenRun(at: number): InnerRun {
  return { index: at, commands: [], visible: 'none' };
}

/** Creates a run that may run anything. */
export function createOpenRun(at: number, commands: readonly SimpleCommand[] = []): InnerRun {
  return { index: at, commands, visible: 'some' };
}

const STRINGS = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`/g;
const MAX_STRINGS = 50;

/**
 * Creates the run of code in a language that is not parsed here. Any text in quotes in the code could be a command that it
 * runs, or the beginning of one.
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

/** Marks a command as one to which words may be added that the line does not show. */
export function makeOpenEnded({ words, hasAssignments }: SimpleCommand): SimpleCommand {
  return { words, hasAssignments, isOpenEnded: true };
}

/**
 * Tells whether a word can turn out to be an option: an expansion can have any value, and a pattern that starts with a wildcard
 * can match a file whose name is an option.
 */
export function canBeOption({ value, form, text }: ShellWord): boolean {
  if (value !== null) return value.startsWith('-');
  if (form === 'home' || form === 'pipe') return false;
  return /^["']*(?:[-$`*?[{!@+]|$)/.test(text);
}
