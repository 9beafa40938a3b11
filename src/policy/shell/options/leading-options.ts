import { createLiteralWord, type ShellWord } from '../parsed-line.ts';
import {
  isOption,
  canExpandToSeveralWords,
  parseOptionTable,
  splitOption,
  takesNextWord,
} from './option-table.ts';
import type { OptionTable } from './option-table.ts';
import { SUBCOMMAND_PROGRAMS } from './subcommand-programs.ts';

/** Finds the options that a program takes before its subcommand. Returns undefined if they are not known. */
export function findLeadingOptionTable(program: string): OptionTable | undefined {
  const known = SUBCOMMAND_PROGRAMS.get(program);
  return known === undefined ? undefined : parseOptionTable(known.options);
}

/** Converts an option to the form in the table: for programs whose long options have one dash, adds the second dash. */
export function normalizeOption(program: string, word: string): string {
  const isLong = SUBCOMMAND_PROGRAMS.get(program)?.singleDash === true && /^-[A-Za-z]/.test(word);
  return isLong ? `-${word}` : word;
}

/** An option before a subcommand. */
export interface LeadingOption {
  readonly name: string;
  readonly value: ShellWord | null;
  /** The word that contains the option. */
  readonly word: ShellWord;
  /** The index of this word. */
  readonly index: number;
}

export interface LeadingOptions {
  readonly options: readonly LeadingOption[];
  /** The index of the first word that is neither a known option nor its value: the subcommand, or an unknown option. */
  readonly end: number;
}

/**
 * Reads the options before a subcommand.
 *
 * @param words the words after the program
 */
export function readLeadingOptions(program: string, words: readonly ShellWord[]): LeadingOptions {
  const options: LeadingOption[] = [];
  const table = findLeadingOptionTable(program);
  if (table === undefined) return { options, end: 0 };
  let end = 0;
  for (let word = words[end]; word !== undefined; word = words[end]) {
    if (word.value === null || word.value === '--' || !isOption(word.value)) break;
    const option = splitOption(normalizeOption(program, word.value), table);
    if (!option.isKnown) break;
    const hasNext = takesNextWord(option);
    const { attachedValue } = option;
    const attachedWord = attachedValue === null ? null : createLiteralWord(attachedValue);
    const value = hasNext ? (words[end + 1] ?? null) : attachedWord;
    if (value !== null && canExpandToSeveralWords(value)) break;
    const position = { word, index: end };
    options.push(...option.flags.map((name) => ({ name, value: null, ...position })));
    options.push({ name: option.name, value, ...position });
    end += hasNext ? 2 : 1;
  }
  return { options, end };
}

/** Tells whether an option changes neither what the subcommand does nor the directory in which it runs. */
export function isNeutralOption(
  program: string,
  { name, value }: Pick<LeadingOption, 'name' | 'value'>,
): boolean {
  const neutralValues = SUBCOMMAND_PROGRAMS.get(program)?.neutralOptions?.[name];
  if (neutralValues === undefined) return false;
  if (value !== null && value.value === null) return false;
  return neutralValues === true || neutralValues.test(value?.value ?? '');
}
