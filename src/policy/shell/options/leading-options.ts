import type { ShellWord } from '../parsed-line.ts';
import {
  isOption,
  canBeSeveralWords,
  parseOptionTable,
  splitOption,
  takesNextWord,
} from './option-table.ts';
import type { OptionTable } from './option-table.ts';
import { SUBCOMMAND_PROGRAMS } from './subcommand-programs.ts';
import type { SubcommandProgram } from './subcommand-programs.ts';

const TABLES = new Map<SubcommandProgram, OptionTable>();

/** The options that a program takes before its subcommand; undefined: they are not known. */
export function findLeadingOptionTable(program: string): OptionTable | undefined {
  const known = SUBCOMMAND_PROGRAMS.get(program);
  if (known === undefined) return undefined;
  const table = TABLES.get(known) ?? parseOptionTable(known.options);
  TABLES.set(known, table);
  return table;
}

/** A word as the table spells it: where long options have one dash, they are given a second one. */
export function normalizeOption(program: string, word: string): string {
  const isLong = SUBCOMMAND_PROGRAMS.get(program)?.singleDash === true && /^-[A-Za-z]/.test(word);
  return isLong ? `-${word}` : word;
}

/** An option before a subcommand. */
export interface LeadingOption {
  readonly name: string;
  readonly value: ShellWord | null;
  /** The word in which it stands, and where that is. */
  readonly word: ShellWord;
  readonly index: number;
}

export interface LeadingOptions {
  readonly options: readonly LeadingOption[];
  /** The first word that is no known option, nor the value of one: the subcommand, or an unknown option. */
  readonly at: number;
}

/**
 * Reads the options before a subcommand.
 *
 * @param words those behind the program
 */
export function readLeadingOptions(program: string, words: readonly ShellWord[]): LeadingOptions {
  const options: LeadingOption[] = [];
  const table = findLeadingOptionTable(program);
  if (table === undefined) return { options, at: 0 };
  let at = 0;
  for (let word = words[at]; word !== undefined; word = words[at]) {
    if (word.value === null || word.value === '--' || !isOption(word.value)) break;
    const option = splitOption(normalizeOption(program, word.value), table);
    if (!option.isKnown) break;
    const hasNext = takesNextWord(option);
    const value = hasNext ? (words[at + 1] ?? null) : attachedValue(option.attached);
    if (value !== null && canBeSeveralWords(value)) break;
    const here = { word, index: at };
    options.push(...option.flags.map((name) => ({ name, value: null, ...here })));
    options.push({ name: option.name, value, ...here });
    at += hasNext ? 2 : 1;
  }
  return { options, at };
}

function attachedValue(value: string | null): ShellWord | null {
  return value === null ? null : { text: value, value, form: 'literal', path: value };
}

/** Whether an option leaves what the subcommand does and where as it is. */
export function isNeutralOption(
  program: string,
  { name, value }: Pick<LeadingOption, 'name' | 'value'>,
): boolean {
  const same = SUBCOMMAND_PROGRAMS.get(program)?.neutralOptions?.[name];
  if (same === undefined) return false;
  if (value !== null && value.value === null) return false;
  return same === true || same.test(value?.value ?? '');
}
