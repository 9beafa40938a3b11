import { findDoubt, type ShellParser, type ShellWord, type SimpleCommand } from '../parsed-line.ts';

/** A run of commands by a program, caused by the arguments of the program. */
export interface InnerRun {
  /**
   * The index of the word that causes the run. The program has the index 0. A rule that names this word covers this
   * run. Infinite for a run that no word causes, which no rule for the program covers.
   */
  readonly index: number;
  /** The commands that run, or could run. */
  readonly commands: readonly SimpleCommand[];
  /**
   * The part of the run that the line shows. `all`: `commands` is complete. `some`: other commands may run, by code in
   * a language that is not parsed or by an unknown option. `none`: a shell gets a text that the line does not show.
   */
  readonly visible: 'all' | 'some' | 'none';
  /** Set if the only command consists of the rest of the words: the index of its first word, counted like `index`. */
  readonly tail?: number;
}

/** Finds the runs that the words after a program cause. In the result the first of these words has the index 0. */
export type InnerRunFinder = (
  words: readonly ShellWord[],
  parser: ShellParser,
) => readonly InnerRun[];

export function createCommand(words: readonly ShellWord[], isOpenEnded = false): SimpleCommand {
  return { words, hasAssignments: false, isOpenEnded };
}

/** Lists the possible commands if a command can start at any of the words. */
export function listPossibleCommands(
  words: readonly ShellWord[],
  isOpenEnded = true,
): readonly SimpleCommand[] {
  return words.map((_, index) => createCommand(words.slice(index), isOpenEnded));
}

/** Creates the run of a text for a shell, which consists of the words joined by blanks. */
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

/** Creates a run of the given commands and possibly any others. */
export function createOpenRun(at: number, commands: readonly SimpleCommand[] = []): InnerRun {
  return { index: at, commands, visible: 'some' };
}

const STRINGS = /"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)'|`((?:[^`\\]|\\[\s\S])*)`/g;
const MAX_STRINGS = 50;

/**
 * Creates the run of code in a language that is not parsed. Any text in quotes in the code could be a command that the
 * code runs, or the beginning of such a command.
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

/** Returns the command with the information that words which the line does not show may be added to it. */
export function makeOpenEnded({ words, hasAssignments }: SimpleCommand): SimpleCommand {
  return { words, hasAssignments, isOpenEnded: true };
}

/**
 * Tells whether a word can be an option when the shell runs: an expansion can have any value, and a pattern that starts
 * with a wildcard can match a file whose name looks like an option.
 */
export function canBeOption({ value, form, text }: ShellWord): boolean {
  if (value !== null) return value.startsWith('-');
  if (form === 'home' || form === 'pipe') return false;
  return /^["']*(?:[-$`*?[{!@+]|$)/.test(text);
}
