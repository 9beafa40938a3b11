import type { ShellWord, SimpleCommand } from '../parsed-line.ts';
import {
  isNeutralOption,
  findLeadingOptionTable,
  readLeadingOptions,
  normalizeOption,
} from './leading-options.ts';
import { isOption, canExpandToSeveralWords, countOptionWords } from './option-table.ts';
import { SUBCOMMAND_PROGRAMS } from './subcommand-programs.ts';

/**
 * Removes the options before the subcommand of a command if all of them are neutral. Returns undefined if there are no
 * options, or if some are not neutral.
 */
export function removeNeutralOptions(command: SimpleCommand): SimpleCommand | undefined {
  const [program, ...rest] = command.words;
  if (program === undefined || program.value === null) return undefined;
  const name = program.value;
  const { options, end } = readLeadingOptions(name, rest);
  const subcommand = rest[end];
  if (end === 0 || subcommand === undefined) return undefined;
  if (subcommand.value === null || isOption(subcommand.value)) return undefined;
  if (!options.every((option) => isNeutralOption(name, option))) return undefined;
  return { ...command, words: [program, ...rest.slice(end)] };
}

/** The words by which a rule names a command. */
export interface ExpectedWords {
  /** The words after the program. */
  readonly words: readonly string[];
  /** True if these are all words of the command; otherwise anything may follow. */
  readonly isComplete: boolean;
}

/**
 * Tells whether a command could be the command that the expected words name, with any options before and between these
 * words. An unknown option may take any number of the following words as its value, so every later word could be an
 * expected word. After a word whose value is unknown, everything is possible.
 *
 * @param program the name under which the options are looked up
 * @param given the words after the program
 */
export function couldMatchWords(
  program: string,
  given: Pick<SimpleCommand, 'words' | 'isOpenEnded'>,
  expected: ExpectedWords,
): boolean {
  const { words, isOpenEnded } = given;
  let starts: readonly number[] = [0];
  for (const [level, name] of expected.words.entries()) {
    const positions = findPositionsFrom(starts, words, [
      program,
      ...expected.words.slice(0, level),
    ]);
    const isOpen = (position: number): boolean => {
      const word = words[position];
      return word === undefined ? isOpenEnded : word.value === null;
    };
    if (positions.some(isOpen)) return true;
    starts = positions.filter((each) => words[each]?.value === name).map((each) => each + 1);
    if (starts.length === 0) return false;
  }
  if (!expected.isComplete || isOpenEnded) return true;
  return starts.some((start) => words[start] === undefined || words[start].value === null);
}

/**
 * Finds the indices after the last word of a subcommand, among the words after the program, for every possible reading
 * of the options. `isSure`: the command certainly has this subcommand, and there is only one reading.
 */
export function findSubcommandEnds(
  program: string,
  words: readonly ShellWord[],
  subcommand: readonly string[],
): { readonly ends: readonly number[]; readonly isSure: boolean } {
  let ends: readonly number[] = [0];
  let sureEnd: number | undefined = 0;
  for (const [level, name] of subcommand.entries()) {
    const before = [program, ...subcommand.slice(0, level)];
    const positions = findPositionsFrom(ends, words, before);
    const isNamed = (position: number): boolean => words[position]?.value === name;
    if (sureEnd !== undefined) {
      const { end } = readLeadingOptions(before.join(' '), words.slice(sureEnd));
      sureEnd = isNamed(sureEnd + end) ? sureEnd + end + 1 : undefined;
    }
    const isUnknown = (position: number): boolean => words[position]?.value === null;
    ends = positions.filter((each) => isNamed(each) || isUnknown(each)).map((each) => each + 1);
  }
  return { ends, isSure: ends.length === 1 && ends[0] === sureEnd };
}

/** Finds every possible index of the subcommand among the words after the program. */
export function findSubcommandPositions(
  program: string,
  words: readonly ShellWord[],
): readonly number[] {
  return findPositionsFrom([0], words, [program]);
}

/**
 * Finds the indices that can be reached from the start indices by skipping options. The result includes the number of
 * words if all words can be skipped.
 *
 * @param before the program whose options these are, perhaps followed by a subcommand
 */
function findPositionsFrom(
  starts: readonly number[],
  words: readonly ShellWord[],
  before: readonly string[],
): readonly number[] {
  const program = before.join(' ');
  const positions = new Set<number>();
  const waiting = [...starts];
  let allFrom = words.length + 1;
  for (let position = waiting.pop(); position !== undefined; position = waiting.pop()) {
    if (positions.has(position) || position >= allFrom) continue;
    positions.add(position);
    const next = skipOption(position, words, program);
    if (next === 'unknown') allFrom = position + 1;
    else waiting.push(...next);
  }
  for (let position = allFrom; position <= words.length; position += 1) positions.add(position);
  return [...positions];
}

/**
 * Returns the possible indices after the option at this index: none if the word is not an option, and `unknown` if
 * every later index is possible.
 */
function skipOption(
  position: number,
  words: readonly ShellWord[],
  program: string,
): readonly number[] | 'unknown' {
  const value = words[position]?.value;
  if (value === undefined || value === null) return [];
  const known = SUBCOMMAND_PROGRAMS.get(program);
  if (!isOption(value)) {
    const isSkipped =
      known?.everyOperand === true || (known?.toolchain === true && value.startsWith('+'));
    return isSkipped ? [position + 1] : [];
  }
  if (value === '--') return [position + 1];
  const table = findLeadingOptionTable(program);
  if (table === undefined) return 'unknown';
  const length = countOptionWords(normalizeOption(program, value), table);
  if (length === undefined) return 'unknown';
  const operand = words[position + 1];
  if (length === 2) {
    // An unknown value may be no word, or several.
    return operand !== undefined && canExpandToSeveralWords(operand) ? 'unknown' : [position + 2];
  }
  // Some programs accept `--json false` as an option with its value.
  return /^(?:true|false|null)$/.test(operand?.value ?? '')
    ? [position + 1, position + 2]
    : [position + 1];
}
